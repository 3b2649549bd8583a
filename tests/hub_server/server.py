"""A small Hub over HTTP on the loopback interface, with faults on demand.

Written from what the real clients ask for: it shows how the clients behave, not what the real Hub accepts.
"""

import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self

from hub_server.messages import Answer, Fault, Request
from hub_server.routes import answer
from hub_server.store import Store

LOOPBACK = "127.0.0.1"
TOKEN = "hf_" + "testonly" * 4
USER = "tester"
ORGANISATION = "testorg"


class LocalHub(AbstractContextManager["LocalHub"]):
    """A running Hub: ``with LocalHub() as hub`` serves on a free port of 127.0.0.1.

    Attributes:
        url: what HF_ENDPOINT must be.
        token: accepted, may write to ``user`` and ``organisation``.
        store: the repositories, to look at and to fill directly.
        faults: append ``Fault`` records; the first that matches a request strikes.
        log: method, path with query, and status of every request so far (0: the connection was cut).
    """

    def __init__(self, port: int = 0, organisations: Sequence[str] = (ORGANISATION,)) -> None:
        self.token = TOKEN
        self.store = Store({TOKEN: "write"}, USER, tuple(organisations))
        self.faults: list[Fault] = []
        self.log: list[tuple[str, str, int]] = []
        self.closing = threading.Event()
        handler = type("Handler", (_Handler,), {"hub": self})
        self._http = ThreadingHTTPServer((LOOPBACK, port), handler)
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)
        self.url = f"http://{LOOPBACK}:{self._http.server_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.closing.set()
        for fault in self.faults:
            fault.released.set()
        self._http.shutdown()
        self._http.server_close()

    def wait(self) -> None:
        """Serve until the process ends."""
        self._thread.join()

    def requests(self, method: str = "", containing: str = "") -> list[tuple[str, str, int]]:
        """The requests so far with this method whose target contains a text."""
        return [entry for entry in list(self.log) if entry[0].startswith(method) and containing in entry[1]]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: LocalHub

    def log_message(self, *arguments: object) -> None:
        pass

    def _serve(self) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Request(self.command, self.path, headers, self._body())
        with self.hub.store.lock:
            fault = next((f for f in self.hub.faults if f.strikes(request)), None)
        if fault and fault.kind == "slow":
            self.hub.closing.wait(fault.seconds)
        if fault and fault.kind == "held":
            fault.released.wait()
        if fault and fault.kind == "status":
            self._send(fault.answer())
        else:
            self._send(answer(self.hub.store, self.hub.url, request), cut=bool(fault and fault.kind == "cut"))
        for held in self.hub.faults:
            if held is not fault and held.matches(request):
                held.released.set()

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = _serve  # noqa: N815

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        chunks = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            chunks.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(chunks)

    def _send(self, sent: Answer, *, cut: bool = False) -> None:
        self.hub.log.append((self.command, self.path, 0 if cut else sent.status))
        self.close_connection = self.close_connection or cut
        if cut and not sent.body:
            return
        self.send_response(sent.status)
        for name, value in sent.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(sent.body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(sent.body[: len(sent.body) // 2] if cut else sent.body)
