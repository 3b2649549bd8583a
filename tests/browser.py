"""A headless Chromium, driven over the WebDriver protocol with the standard library alone."""

import base64
import json
import shutil
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from typing import Any

DRIVER = shutil.which("chromedriver")
_ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
_UNTOUCHED = ("stale element reference", "element click intercepted", "element not interactable")
_OPTIONS = {
    "args": [
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--window-size=1100,1300",
        "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    ]
}


class DriverError(Exception):
    """What the driver says instead of an answer."""


class UntouchedError(DriverError):
    """The driver did nothing with an element: the page was replaced, or something still moves over it."""


class Browser:
    """One page."""

    def __init__(self, address: str) -> None:
        self._address = address
        wanted = {"alwaysMatch": {"browserName": "chrome", "goog:chromeOptions": _OPTIONS}}
        self._session = self._ask("POST", "/session", {"capabilities": wanted})["sessionId"]

    def open(self, url: str) -> None:
        self._call("POST", "/url", {"url": url})

    def until(
        self,
        look: Callable[[], Any],
        wanted: str,
        seconds: float = 60,
        passing: type[DriverError] = DriverError,
    ) -> Any:
        """What a look at the page finds, once it finds something; errors that pass mean: not yet."""
        deadline = time.monotonic() + seconds
        while True:
            trouble = ""
            try:
                if found := look():
                    return found
            except passing as error:
                trouble = f" ({error})"
            if time.monotonic() >= deadline:
                raise AssertionError(f"no {wanted} after {seconds} s{trouble}: {self.text()[:1000]}")
            time.sleep(0.1)

    def find(self, selector: str, seconds: float = 60) -> "Element":
        """The first visible element, once there is one."""
        element = Element(self, selector)
        element.path(seconds)
        return element

    def shown(self, selector: str) -> str | None:
        """The path of the first visible element, if there is one now."""
        found = self._call("POST", "/elements", {"using": "css selector", "value": selector})
        paths = [f"/element/{entry[_ELEMENT]}" for entry in found]
        return next((path for path in paths if self._call("GET", f"{path}/displayed")), None)

    def wait_for_text(self, selector: str, text: str, seconds: float = 60) -> str:
        def said() -> str | None:
            shown = self.find(selector, seconds).text()
            return shown if text in shown else None

        return self.until(said, f"{selector} that says {text!r}", seconds)

    def text(self) -> str:
        return self.run("return document.body.innerText")

    def run(self, script: str):
        """The value that a piece of JavaScript returns."""
        return self._call("POST", "/execute/sync", {"script": script, "args": []})

    def press(self, key: str) -> None:
        """Strike one key, wherever the focus is."""
        strokes = [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]
        self._call("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": strokes}]})

    def pretend(self, width: int, height: int, dark: bool = False) -> None:
        """Look like a screen of another size, or one whose owner likes it dark."""
        screen = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._chrome("Emulation.setDeviceMetricsOverride", screen)
        self._chrome("Emulation.setEmulatedMedia", {"features": [scheme]})

    def _chrome(self, command: str, parameters: object) -> None:
        self._call("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def screenshot(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(self._call("GET", "/screenshot")))

    def close(self) -> None:
        self._call("DELETE", "")

    def _call(self, method: str, path: str, body: object = None):
        return self._ask(method, f"/session/{self._session}{path}", body)

    def _ask(self, method: str, path: str, body: object = None):
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(self._address + path, data, method=method)
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.loads(answer.read())["value"]
        except urllib.error.HTTPError as error:
            said = json.loads(error.read())["value"]
            kind = UntouchedError if said["error"] in _UNTOUCHED else DriverError
            raise kind(f"{said['error']}: {said['message']}") from error


class Element:
    """The first visible element of a kind, looked for anew whenever the page was replaced meanwhile."""

    def __init__(self, browser: Browser, selector: str) -> None:
        self._browser, self._selector = browser, selector

    def text(self) -> str:
        return self._use("GET", "text")

    def click(self) -> None:
        self._use("POST", "click", {})

    def write(self, text: str) -> None:
        self._use("POST", "clear", {})
        self._use("POST", "value", {"text": text})

    def path(self, seconds: float = 60) -> str:
        """Where the driver has it, once it is visible."""
        wanted = f"visible {self._selector}"
        return self._browser.until(lambda: self._browser.shown(self._selector), wanted, seconds)

    def _use(self, method: str, action: str, body: object = None):
        """Do something once: it is tried again only where the driver says that it did nothing."""

        def attempt() -> tuple[Any]:
            return (self._browser._call(method, f"{self.path()}/{action}", body),)

        wanted = f"{action} of {self._selector}"
        return self._browser.until(attempt, wanted, passing=UntouchedError)[0]


@contextmanager
def browsing(folder: Path):
    """A browser of its own, ended with the test."""
    log = (folder / "chromedriver.log").open("w")
    process = subprocess.Popen([DRIVER, "--port=0"], stdout=subprocess.PIPE, stderr=log, text=True)
    try:
        port = _port(process)
        browser = Browser(f"http://127.0.0.1:{port}")
        try:
            yield browser
        finally:
            browser.close()
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()
        log.close()


def _port(process) -> int:
    for line in process.stdout:
        if "started successfully on port" in line:
            return int(line.rstrip(".\n").rsplit(" ", 1)[-1])
    raise AssertionError("chromedriver did not start")
