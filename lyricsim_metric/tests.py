"""Cases that this repository's tests run: inputs and what compute must return."""

test_cases = [
    {
        "predictions": [1, 2, 3, 4],
        "references": [0, 1, 3, 2],
        "result": {"pearson": 0.8, "spearmanr": 0.8, "combined_score": 0.8},
    },
    {
        "predictions": [0, 1, 2, 3, 4, 5],
        "references": [0, 1, 2, 3, 4, 5],
        "result": {"pearson": 1.0, "spearmanr": 1.0, "combined_score": 1.0},
    },
    {
        "predictions": [5, 4, 3, 2, 1, 0],
        "references": [0, 1, 2, 3, 4, 5],
        "result": {"pearson": -1.0, "spearmanr": -1.0, "combined_score": -1.0},
    },
    {
        "predictions": [[0.0], [0.0], [1.0], [1.0]],
        "references": [0, 1, 0, 1],
        "result": {"pearson": 0.0, "spearmanr": 0.0, "combined_score": 0.0},
    },
]
