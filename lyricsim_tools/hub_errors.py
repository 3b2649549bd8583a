"""What can go wrong on the way to the Hub, each said once and with what to do about it."""

from collections.abc import Iterator

from lyricsim_tools.errors import UserError

# The Hub's answer to a commit whose parent is no longer the newest one; 409 while another one is under way.
CONFLICTS = (409, 412)
_PASSING = (408, 429, 500, 502, 503, 504)


def status_of(error: BaseException) -> int | None:
    """The HTTP status behind an error of the hub client, None if no answer came."""
    for cause in _chain(error):
        response = getattr(cause, "response", None)
        if response is not None:
            return int(response.status_code)
    return None


def is_transfer_error(error: BaseException) -> bool:
    """Whether an error came from the transfer (an HTTP answer, or none) and not from our own code."""
    import httpx2

    return any(isinstance(cause, httpx2.HTTPError | ConnectionError) for cause in _chain(error))


def may_pass(error: BaseException) -> bool:
    """Whether the same request may succeed a little later."""
    from huggingface_hub.errors import OfflineModeIsEnabled

    status = status_of(error)
    if status is None:
        return not any(isinstance(cause, OfflineModeIsEnabled) for cause in _chain(error))
    return status in (*_PASSING, *CONFLICTS)


def seconds_asked_for(error: BaseException) -> float | None:
    """The server's ``Retry-After`` in seconds, None if it gave none that can be read."""
    for cause in _chain(error):
        response = getattr(cause, "response", None)
        text = response.headers.get("Retry-After", "") if response is not None else ""
        if text.isdigit():
            return float(text)
    return None


def explain(error: BaseException, repo_id: str, command: str) -> UserError:
    """The error of a push in words, with the command that repeats it.

    Args:
        error: what the hub client raised.
        repo_id: the repository it was about.
        command: the command line that repeats the push.
    """
    status = status_of(error)
    given, remedy = _words(error, status, repo_id)
    return UserError(
        given,
        f"a push to {repo_id} that goes through",
        f"{remedy}. Nothing is lost: the folder is as it was, files that arrived are not sent again. "
        f"Repeat with:\n    {command}",
    )


def _words(error: BaseException, status: int | None, repo_id: str) -> tuple[str, str]:
    if status is None:
        return _words_without_answer(error)
    if status in CONFLICTS:
        return (
            f"somebody else kept changing {repo_id} during this push (HTTP {status})",
            "wait until the other push has ended",
        )
    return {
        401: (
            "the Hub does not accept the access token: it is wrong, expired or revoked (HTTP 401)",
            "log in again with `hf auth login`, or set HF_TOKEN to a valid token",
        ),
        403: (
            f"the access token may not write to {repo_id} (HTTP 403)",
            "use a token with the role 'write' of an account that belongs to the owner",
        ),
        404: (
            f"the Hub knows no {repo_id} that this token may write to (HTTP 404)",
            "check the owner's name and the token's rights",
        ),
        429: ("the Hub asks to slow down: too many requests (HTTP 429)", "wait some minutes"),
    }.get(status) or _words_for_other(error, status)


def _words_for_other(error: BaseException, status: int) -> tuple[str, str]:
    if status >= 500:
        return f"the Hub failed to answer (HTTP {status}), several times", "wait some minutes"
    return f"the Hub refused the push (HTTP {status}): {error}", "see the Hub's own words above"


def _words_without_answer(error: BaseException) -> tuple[str, str]:
    from huggingface_hub.errors import OfflineModeIsEnabled

    if any(isinstance(cause, OfflineModeIsEnabled) for cause in _chain(error)):
        return "HF_HUB_OFFLINE is set, so nothing can be sent", "unset HF_HUB_OFFLINE"
    return f"the Hub cannot be reached: {_root(error)}", "check the network (and HF_ENDPOINT, if it is set)"


def _chain(error: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__


def _root(error: BaseException) -> BaseException:
    return next((cause for cause in _chain(error) if str(cause)), error)
