"""How the browser that tests drive bears a page that is being replaced, shown with a driver by script."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from browser import _ELEMENT, Browser, DriverError

FOUND, SHOWN, NONE, DONE = [{_ELEMENT: "e"}], True, [], "done"


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        value = self.server.script.pop(0)
        failed = isinstance(value, Exception)
        content = {"error": str(value), "message": "as the script says"} if failed else value
        body = json.dumps({"value": content}).encode()
        self.server.asked.append(self.path.rpartition("/")[2])
        self.send_response(404 if failed else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST  # noqa: N815

    def log_message(self, *args):
        pass


@pytest.fixture
def driver():
    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    httpd.script, httpd.asked = [{"sessionId": "s"}], []
    threading.Thread(target=httpd.serve_forever, args=(0.05,), daemon=True).start()
    yield httpd
    httpd.shutdown()
    httpd.server_close()


@pytest.fixture
def browser(driver):
    made = Browser(f"http://127.0.0.1:{driver.server_port}")
    driver.asked.clear()
    return made


def test_an_element_that_goes_stale_while_it_is_looked_at_is_looked_for_again(driver, browser):
    driver.script = [NONE, FOUND, RuntimeError("stale element reference"), FOUND, SHOWN]
    browser.find("main")
    assert driver.asked == ["elements", "elements", "displayed", "elements", "displayed"]


@pytest.mark.parametrize("reason", ["stale element reference", "element click intercepted"])
def test_a_click_that_did_nothing_is_repeated(driver, browser, reason):
    driver.script = [FOUND, SHOWN, FOUND, SHOWN, RuntimeError(reason), FOUND, SHOWN, DONE]
    browser.find("button").click()
    assert [what for what in driver.asked if what == "click"] == ["click", "click"]


def test_a_click_that_may_have_done_something_is_not_repeated(driver, browser):
    driver.script = [FOUND, SHOWN, FOUND, SHOWN, RuntimeError("timeout")]
    with pytest.raises(DriverError, match="timeout: as the script says"):
        browser.find("button").click()
    assert driver.script == []


def test_what_never_comes_is_named_with_the_last_trouble_and_the_page(driver, browser):
    driver.script = [RuntimeError("javascript error"), "what the page says"]
    with pytest.raises(AssertionError, match=r"no main after 0 s \(javascript error.*what the page says"):
        browser.until(lambda: browser.run("return 1"), "main", seconds=0)
