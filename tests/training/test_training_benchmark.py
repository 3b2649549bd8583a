"""The benchmark of training compares like with like."""

import importlib.util
import sys

import pytest
from support import REPOSITORY


@pytest.mark.parametrize(("whole", "part"), [(12, 8), (4, 8), (8, 0), (0, 8)])
def test_a_global_batch_that_the_others_cannot_have_is_refused(whole: int, part: int) -> None:
    path = REPOSITORY / "benchmarks" / "training.py"
    specification = importlib.util.spec_from_file_location("benchmark_training", path)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules[specification.name] = module
    specification.loader.exec_module(module)
    batches = ["--global-batch-size", str(whole), "--per-device-batch-size", str(part)]
    with pytest.raises(SystemExit, match=f"--global-batch-size {whole} with --per-device-batch-size {part}"):
        module.main([*batches, "--rows", "2", "--repetitions", "1", "--model", "unused"])
