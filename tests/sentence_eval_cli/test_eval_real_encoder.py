"""A real pretrained encoder gives its known figure through the command."""

import json

import pytest

from spanish_sentence_eval import cli


@pytest.mark.slow
def test_e5_reaches_its_known_correlation_on_sts17(e5_folder, sentence_evaluation_source, tmp_path):
    output = tmp_path / "results.json"
    encoder = ["--model", str(e5_folder), "--prompt", "query: "]
    places = ["--data", str(sentence_evaluation_source), "--output", str(output), "--no-cache"]
    assert cli.main(["run", *encoder, *places, "--tasks", "STS17"]) == 0
    results = json.loads(output.read_text())
    assert results["encoder"]["kind"] == "sentence-transformers"
    assert results["tasks"]["STS17"]["headline"]["value"] == pytest.approx(0.865, abs=0.002)
