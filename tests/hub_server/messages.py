"""A request, an answer and a fault, as records."""

import json
import re
import threading
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import parse_qs, urlsplit


@dataclass(frozen=True)
class Request:
    method: str
    target: str
    headers: dict[str, str]
    body: bytes

    @property
    def path(self) -> str:
        return urlsplit(self.target).path

    @property
    def query(self) -> dict[str, list[str]]:
        return parse_qs(urlsplit(self.target).query)

    @property
    def token(self) -> str | None:
        return self.headers.get("authorization", "").removeprefix("Bearer ").strip() or None

    def flag(self, name: str) -> bool:
        return self.query.get(name, [""])[0].lower() in ("1", "true")

    def json(self) -> dict:
        return json.loads(self.body or b"{}")


@dataclass(frozen=True)
class Answer:
    status: int
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)


def json_answer(value: object, status: int = 200, **headers: str) -> Answer:
    return Answer(status, json.dumps(value).encode(), {"Content-Type": "application/json", **headers})


def refusal(status: int, message: str, code: str = "") -> Answer:
    headers = {"X-Error-Message": message} | ({"X-Error-Code": code} if code else {})
    return json_answer({"error": message}, status, **headers)


@dataclass
class Fault:
    """Something that goes wrong, a given number of times, with matching requests.

    Args:
        target: regular expression, searched for in the path and query.
        kind: "status" answers with one; "slow" waits first and then answers as usual; "held" waits until
            another request that matches was answered and then answers as usual; "cut" closes the
            connection half-way through the answer's body, or before an answer without one.
        method: the request's method; "": any.
        times: how often.
        status: of the answer, for "status".
        retry_after: seconds, sent in the header of that name.
        seconds: how long "slow" waits.
        skip: how many matching requests pass unharmed first.
        released: what "held" waits for.
    """

    target: str
    kind: Literal["status", "slow", "held", "cut"] = "status"
    method: str = ""
    times: int = 1
    status: int = 500
    retry_after: int | None = None
    seconds: float = 0.0
    skip: int = 0
    released: threading.Event = field(default_factory=threading.Event)

    def matches(self, request: Request) -> bool:
        return self.method in ("", request.method) and bool(re.search(self.target, request.target))

    def strikes(self, request: Request) -> bool:
        if self.times <= 0 or not self.matches(request):
            return False
        if self.skip > 0:
            self.skip -= 1
            return False
        self.times -= 1
        return True

    def answer(self) -> Answer:
        headers = {"Retry-After": str(self.retry_after)} if self.retry_after is not None else {}
        return json_answer({"error": "injected fault"}, self.status, **headers)
