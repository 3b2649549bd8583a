"""Run the Hub on its own: prints its address and the token, then serves until the process ends."""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from hub_server.server import LocalHub

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="default: a free one")
    with LocalHub(parser.parse_args().port) as hub:
        print(hub.url, hub.token, flush=True)
        hub.wait()
