"""finetune.py in processes with a working folder each, as machines without shared storage have one each.

Usage: launched_apart.py FOLDER ARGUMENTS…, with a relative --output; FOLDER holds a folder a rank.
"""

import os
import runpy
import sys
from pathlib import Path

FINETUNE = Path(__file__).resolve().parents[2] / "training" / "finetune.py"

if __name__ == "__main__":
    os.chdir(Path(sys.argv[1]) / os.environ["RANK"])
    sys.argv = [str(FINETUNE), *sys.argv[2:]]
    runpy.run_path(str(FINETUNE), run_name="__main__")
