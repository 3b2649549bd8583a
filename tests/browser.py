"""A headless Chromium, driven over the WebDriver protocol with the standard library alone."""

import base64
import json
import shutil
import subprocess
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path

DRIVER = shutil.which("chromedriver")
_ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
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


class Browser:
    """One page."""

    def __init__(self, address: str) -> None:
        self._address = address
        wanted = {"alwaysMatch": {"browserName": "chrome", "goog:chromeOptions": _OPTIONS}}
        self._session = self._ask("POST", "/session", {"capabilities": wanted})["sessionId"]

    def open(self, url: str) -> None:
        self._call("POST", "/url", {"url": url})

    def find(self, selector: str, seconds: float = 60) -> "Element":
        """The first visible element, once there is one."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            found = self._call("POST", "/elements", {"using": "css selector", "value": selector})
            for entry in found:
                element = Element(self, entry[_ELEMENT])
                if element.is_shown():
                    return element
            time.sleep(0.2)
        raise AssertionError(f"no visible {selector} after {seconds} s: {self.text()[:1000]}")

    def wait_for_text(self, selector: str, text: str, seconds: float = 60) -> str:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if text in (shown := self.find(selector, seconds).text()):
                return shown
            time.sleep(0.2)
        raise AssertionError(f"{selector} never said {text!r}: {shown!r}")

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
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.loads(answer.read())["value"]


class Element:
    def __init__(self, browser: Browser, reference: str) -> None:
        self._browser, self._path = browser, f"/element/{reference}"

    def is_shown(self) -> bool:
        return self._browser._call("GET", f"{self._path}/displayed")

    def text(self) -> str:
        return self._browser._call("GET", f"{self._path}/text")

    def click(self) -> None:
        self._browser._call("POST", f"{self._path}/click", {})

    def write(self, text: str) -> None:
        self._browser._call("POST", f"{self._path}/clear", {})
        self._browser._call("POST", f"{self._path}/value", {"text": text})


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
