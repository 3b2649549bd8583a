"""What a request must show before it is looked at: the right host, the right page, a small body (pure)."""

import hashlib
import hmac
import ipaddress
from collections.abc import Collection, Mapping
from urllib.parse import parse_qs, urlsplit

from lyricsim_annotation.records import NOTE_LIMIT

#: Bytes of a form: its longest field is a note, whose characters may take twelve bytes each when encoded.
BODY_LIMIT = 2048 + 12 * NOTE_LIMIT
FORM_TYPE = "application/x-www-form-urlencoded"
_LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")
_FIELDS = 10


def is_loopback(host: str) -> bool:
    """Whether a server at this address is reached from its own machine only."""
    return host == "localhost" or ((address := _address(host)) is not None and address.is_loopback)


def is_wildcard(host: str) -> bool:
    """Whether a server at this address listens on all of its machine's addresses."""
    return (address := _address(host)) is not None and address.is_unspecified


def allowed_hosts(host: str, names: Collection[str]) -> frozenset[str]:
    """The names under which the server may be addressed."""
    own = _LOOPBACK_NAMES if is_loopback(host) or is_wildcard(host) else ()
    return frozenset(name.lower() for name in (host, *own, *names))


def is_host_name(text: str) -> bool:
    """Whether a request can be addressed to this: a name or an address, without scheme, port and path."""
    return text.isascii() and (_address(text) is not None or _hostname(text) == text.lower())


def host_is_allowed(header: str | None, allowed: Collection[str]) -> bool:
    """Whether a ``Host`` header names this server.

    A page of somebody else's whose name was made to point here (DNS rebinding) sends its own name.
    """
    return _hostname(header or "") in allowed


def is_same_origin(headers: Mapping[str, str], allowed: Collection[str]) -> bool:
    """Whether a browser says that a form came from a page of this server; no word of it is no objection.

    Args:
        headers: of the request, by lower-case name.
        allowed: names under which the server may be addressed.
    """
    if headers.get("sec-fetch-site", "same-origin") != "same-origin":
        return False
    if "origin" not in headers:
        return True
    asked, host = headers["origin"].partition("://")[2].lower(), headers.get("host", "").lower()
    return asked == host or _was_replaced(_hostname(asked) or "", _hostname(host) or "", allowed)


def _was_replaced(asked: str, host: str, allowed: Collection[str]) -> bool:
    """Whether a proxy on this machine replaced the name that raters type by one of the machine's own."""
    is_own = is_loopback(asked) or is_wildcard(asked)
    return is_loopback(host) and asked in allowed and not is_own


def forgery_token(secret: str, link: str) -> str:
    """What a form must repeat to prove that it came from the page behind a link."""
    return hmac.new(secret.encode(), link.encode(), hashlib.sha256).hexdigest()


def same(given: str, expected: str) -> bool:
    """Whether two secrets are equal, in a time that does not tell where they differ."""
    return hmac.compare_digest(given.encode(), expected.encode())


def form_fields(body: bytes) -> dict[str, str] | None:
    """The fields of a form, each once; None: it is no such form."""
    try:
        found = parse_qs(
            body.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=_FIELDS
        )
    except ValueError:
        return None
    return (
        {name: values[0] for name, values in found.items()}
        if all(len(v) == 1 for v in found.values())
        else None
    )


def _hostname(netloc: str) -> str | None:
    try:
        return urlsplit(f"//{netloc}").hostname
    except ValueError:
        return None


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None
