"""``lyricsim-annotate serve``: the raters' page on this machine."""

import argparse
import signal
import sys
from pathlib import Path
from typing import Any

from lyricsim_tools.errors import UserError

_PORT = 8420
_EPILOG = """examples:
  lyricsim-annotate serve chosen --database ratings.sqlite --raters ana berta carla
  lyricsim-annotate serve chosen --database ratings.sqlite          the same raters and links again
  lyricsim-annotate serve chosen --database ratings.sqlite --raters dora       one rater more
  lyricsim-annotate serve chosen --database ratings.sqlite --host 192.0.2.7

Each rater gets a link that nobody can guess; whoever has it rates as that rater, so hand each one out in
private. A rating is on disk before the page goes on. The server may be stopped (Ctrl-C), killed and started
again at any time. No rater is given more than a fair share of the open ratings while the others are active.
"""


def add_parser(commands: Any) -> None:
    """Register the subcommand."""
    summary = "serve the raters' page, and one for whoever runs the campaign"
    parser = commands.add_parser(
        "serve",
        help=summary,
        description=summary,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    parser.add_argument(
        "folder", type=Path, help="what `lyricsim-annotate select` wrote, or one made by hand"
    )
    parser.add_argument(
        "--database", type=Path, required=True, metavar="FILE", help="the ratings (SQLite); made if need be"
    )
    parser.add_argument(
        "--raters",
        action="extend",
        nargs="+",
        default=[],
        metavar="NAME",
        help="whom to make links for; earlier ones stay",
    )
    parser.add_argument(
        "--raters-per-pair", type=int, metavar="N", help="ratings a pair gets (default: 3, the fewest)"
    )
    parser.add_argument("--language", choices=("es", "en"), default="es", help="until a rater switches (es)")
    _add_network(parser)
    _add_times(parser)
    parser.add_argument("--json", action="store_true", help="print the links as one line of JSON")


def _add_network(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--host", default="127.0.0.1", help="address to listen on (default: 127.0.0.1, this machine only)"
    )
    parser.add_argument("--port", type=int, default=_PORT, help=f"default: {_PORT}; 0 takes any free one")
    parser.add_argument(
        "--allow-host", action="append", default=[], metavar="NAME", help="a name that raters reach this by"
    )


def _add_times(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--reservation-minutes",
        type=_positive,
        default=30,
        metavar="M",
        help="how long an unanswered pair stays with whoever looked at it (default: 30)",
    )
    parser.add_argument(
        "--idle-hours",
        type=_positive,
        default=48,
        metavar="H",
        help="after which the share of a rater who was not seen goes to the others (default: 48)",
    )


def run(options: argparse.Namespace) -> int:
    """Serve until interrupted.

    Raises:
        UserError: bad folder, database, raters, host or port.
    """
    from lyricsim_annotation.guard import allowed_hosts, is_loopback
    from lyricsim_annotation.server import Server

    _check_names(options)
    application = _application(options, allowed_hosts(options.host, options.allow_host))
    server = Server(options.host, options.port, application)
    if not is_loopback(options.host):
        sys.stderr.write(_warning(options.host))
    name = options.allow_host[0] if options.allow_host else options.host
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        _print_links(
            application, f"http://{f'[{name}]' if ':' in name else name}:{server.port}", options.json
        )
        server.serve_forever()
    except KeyboardInterrupt:
        sys.stderr.write(f"\nstopped; all ratings are in {options.database}\n")
    finally:
        server.server_close()
        application.store.close()
    return 0


def _check_names(options: argparse.Namespace) -> None:
    from lyricsim_annotation.guard import is_host_name, is_wildcard

    if is_wildcard(options.host) and not options.allow_host:
        raise UserError(
            f"--host {options.host} without a name",
            "the name or address that raters will type, so that requests for any other can be refused",
            "add --allow-host NAME, or name one address of this machine with --host",
        )
    for name in options.allow_host:
        if not is_host_name(name):
            raise UserError(
                f"--allow-host {name}",
                "a name or address in ASCII, without https://, port, path and brackets",
                "give --allow-host lab.example, or 192.0.2.7",
            )


def _application(options: argparse.Namespace, hosts: frozenset[str]) -> Any:
    from lyricsim_annotation.application import Application
    from lyricsim_annotation.database import open_campaign
    from lyricsim_annotation.selection_folder import read_selection
    from lyricsim_annotation.store import Store, Timing

    selection = read_selection(options.folder)
    campaign = open_campaign(options.database, selection, options.raters_per_pair)
    timing = Timing(60 * options.reservation_minutes, 3600 * options.idle_hours)
    store = Store(options.database, campaign, [pair.pair_id for pair in selection.pairs], timing)
    if not store.invite(options.raters):
        raise UserError(
            "no raters", "at least one name in a campaign's first run", "add --raters NAME NAME NAME"
        )
    return Application(store, selection, hosts, options.language)


def _print_links(application: Any, base: str, as_json: bool) -> None:
    import json

    from lyricsim_annotation.application import ORGANISER_PATH, RATER_PATH

    raters = {rater.name: f"{base}{RATER_PATH}/{rater.token}" for rater in application.store.raters()}
    organiser = f"{base}{ORGANISER_PATH}/{application.store.campaign.organiser}"
    if as_json:
        print(json.dumps({"raters": raters, "organiser": organiser}, ensure_ascii=False), flush=True)
        return
    # No table: a link that a terminal wraps cannot be clicked or copied.
    width = max(map(len, raters))
    lines = [f"  {name:<{width}}  {link}" for name, link in raters.items()]
    wanted = application.store.campaign.raters_per_pair
    if len(raters) < wanted:
        sys.stderr.write(
            f"note: {len(raters)} raters cannot give {wanted} ratings a pair; invite more with --raters\n"
        )
    print("Raters, one private link each:", *lines, "Organiser:", f"  {organiser}", sep="\n")
    print(f"{len(application.selection.pairs)} pairs, {wanted} raters each; Ctrl-C stops.", flush=True)


def _warning(host: str) -> str:
    return (
        f"WARNING: listening on {host}: everybody who can reach this machine can reach the page.\n"
        "Lyrics and links travel unencrypted: use a network that you trust, or a proxy that adds HTTPS.\n"
    )


def _positive(text: str) -> float:
    value = float(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return value
