"""Run the Hub on its own: prints its address, the token and whose it is, then serves for ever."""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from hub_server.server import LocalHub

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="default: a free one")
    parser.add_argument(
        "--owner", action="append", default=[], help="an organisation that the token may write to"
    )
    options = parser.parse_args()
    with LocalHub(options.port, options.owner) as hub:
        print(hub.url, hub.token, hub.store.user, flush=True)
        hub.wait()
