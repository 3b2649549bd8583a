"""Stands in for training: notes that it began, waits, and writes a score that follows from its settings."""

import itertools
import json
import os
import sys
import time
from pathlib import Path

given = sys.argv[1:]
options = dict(itertools.pairwise(given))
output = Path(options["--output"])
rate, batch = float(options["--learning-rate"]), int(options["--global-batch-size"])
with (output.parent.parent / "begun.txt").open("a") as stream:
    stream.write(f"{output.name} {os.getpid()}\n")
time.sleep(float(os.environ.get("FAKE_SECONDS", "0")))
if rate == float(os.environ.get("FAKE_FAILING_RATE", "-1")):
    sys.exit(os.environ.get("FAKE_LAST_WORDS", "the loss is NaN at step 3"))
output.mkdir(parents=True)
score = 0.5 + batch / 100 - rate
(output / "model.safetensors").write_bytes(b"weights")
precision = os.environ.get("FAKE_PRECISION", "no")
(output / "run.json").write_text(json.dumps({"topology": {"mixed_precision": precision}}))
(output / "metrics.json").write_text(
    json.dumps({"validation": {"combined_score": score}, "test": {"combined_score": score - 0.1}})
)
