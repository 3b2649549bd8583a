"""``python -m lyricsim_demo``: serve the page on this machine."""

import argparse
import sys
from collections.abc import Sequence

from lyricsim_demo.page import build_page
from lyricsim_tools.errors import UserError

# Only this machine: the page runs a model on whatever it is sent.
LOOPBACK = "127.0.0.1"
_EXAMPLES = """examples:
  python -m lyricsim_demo
  python -m lyricsim_demo --model runs/bertin
  python -m lyricsim_demo --model your-name/lyricsim-bertin --port 7861
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until interrupted.

    Args:
        arguments: the command line; None: the process's own.

    Returns:
        0 after an interrupt, 2 on a mistake of the caller.
    """
    options = _parser().parse_args(arguments)
    try:
        from lyricsim_models.pair_scorers import open_scorer

        page = build_page(open_scorer(options.model).score, options.model)
    except UserError as error:
        sys.stderr.write(f"lyricsim_demo: {error}\n")
        return 2
    page.launch(server_name=LOOPBACK, server_port=options.port, share=False)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="lyricsim-demo",
        description="Serve a page for trying a model out: score two lyrics, or rank a list for one.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--model",
        default="lexical",
        help="a run's folder, a Hub id, or lexical, which needs neither (default)",
    )
    parser.add_argument("--port", type=int, help="default: the first free one from 7860")
    return parser


if __name__ == "__main__":
    sys.exit(main())
