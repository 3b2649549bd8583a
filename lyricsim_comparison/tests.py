"""Cases that this repository's tests run: inputs and part of what compute must return."""

test_cases = [
    {
        "predictions1": [1, 2, 3, 4],
        "predictions2": [2, 1, 4, 3],
        "references": [0, 1, 2, 3],
        "result": {"pearson_difference": 0.4, "spearmanr_difference": 0.4, "combined_score_difference": 0.4},
    },
    {
        "predictions1": [0, 1, 2, 3, 4, 5],
        "predictions2": [5, 4, 3, 2, 1, 0],
        "references": [0, 1, 2, 3, 4, 5],
        "result": {"pearson_difference": 2.0, "spearmanr_difference": 2.0, "combined_score_difference": 2.0},
    },
    {
        "predictions1": [0, 1, 2, 4, 3, 5],
        "predictions2": [0, 1, 2, 4, 3, 5],
        "references": [0, 1, 2, 3, 4, 5],
        "result": {
            "pearson_difference": 0.0,
            "combined_score_difference": 0.0,
            "pearson_williams_pvalue": 1.0,
            "pearson_permutation_pvalue": 1.0,
        },
    },
]
