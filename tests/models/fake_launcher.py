"""Stands in for ``accelerate launch`` of one process: starts a script, waits for it, and knows no signals."""

import subprocess
import sys

sys.exit(subprocess.Popen([sys.executable, *sys.argv[1:]]).wait())
