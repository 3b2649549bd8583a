"""The edge towards the network: sockets, HTTP and nothing else."""

import socket
import sys
import traceback
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

from lyricsim_annotation.application import Application, Request, Response
from lyricsim_annotation.guard import BODY_LIMIT, FORM_TYPE
from lyricsim_annotation.markup import content_policy
from lyricsim_tools.errors import UserError

_HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    # Links are secrets: no other site learns them. "no-referrer" would hide the origin of our own forms.
    "Referrer-Policy": "same-origin",
}
#: Seconds that a connection may keep a thread waiting.
_PATIENCE = 30


class Server(ThreadingHTTPServer):
    """Serves one application."""

    daemon_threads = True

    def __init__(self, host: str, port: int, application: Application) -> None:
        """Listen.

        Args:
            host: an address of this machine, or a name of one.
            port: 0 takes any free one.
            application: what answers.

        Raises:
            UserError: the address or the port cannot be had.
        """
        self.application = application
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        try:
            super().__init__((host, port), _Handler)
        except (OSError, OverflowError) as error:
            raise UserError(
                f"{host} port {port} cannot be used: {getattr(error, 'strerror', error)}",
                "an address of this machine and a free port",
                "stop the other server, or choose another with --port (0: any free one)",
            ) from error

    @property
    def port(self) -> int:
        """The port that is listened on."""
        return int(self.server_address[1])

    def server_bind(self) -> None:
        """Bind without asking a name server who we are, as the base class would."""
        socket.socket.setsockopt(self.socket, socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = str(self.server_address[0]), int(self.server_address[1])

    def handle_error(self, request: object, client_address: object) -> None:
        """A reader who went away is no news; anything else is."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            traceback.print_exc()


class _Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"
    server_version = "lyricsim-annotate"
    sys_version = ""
    timeout = _PATIENCE

    def do_GET(self) -> None:
        self._send(self._respond(b""))

    def do_POST(self) -> None:
        problem = self._problem_with_body()
        if problem is not None:
            # What was sent stays unread, so nothing else can come over this connection.
            self.close_connection = True
            self._send(self.server.application.refuse(problem))
            return
        length = int(self.headers["Content-Length"])
        body = self.rfile.read(length)
        if len(body) < length:
            # Cut off on its way: a field that is missing, or half there, would be taken for the rater's word.
            self.close_connection = True
            self._send(self.server.application.refuse())
            return
        self._send(self._respond(body))

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the addresses hold the raters' links."""

    def _problem_with_body(self) -> HTTPStatus | None:
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit()):
            return HTTPStatus.LENGTH_REQUIRED
        if len(length) > 9 or int(length) > BODY_LIMIT:
            return HTTPStatus.REQUEST_ENTITY_TOO_LARGE
        if self.headers.get_content_type() != FORM_TYPE:
            return HTTPStatus.UNSUPPORTED_MEDIA_TYPE
        return None

    def _respond(self, body: bytes) -> Response:
        try:
            address = urlsplit(self.path)
        except ValueError:
            return self.server.application.refuse()
        headers = {name.lower(): value for name, value in self.headers.items()}
        query = dict(parse_qsl(address.query)[:10])
        return self.server.application.respond(Request(self.command, address.path, query, headers, body))

    def _send(self, response: Response) -> None:
        content = response.text.encode()
        self.send_response(response.status)
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Security-Policy", content_policy())
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        if response.location is not None:
            self.send_header("Location", response.location)
        if response.cookie is not None:
            self.send_header("Set-Cookie", response.cookie)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(content)
