"""A headless Chromium, driven through a pipe by the DevTools protocol; nothing else is needed."""

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

INSTALL = "needs headless Chromium; on Debian and Ubuntu: apt-get install chromium"
_FLAGS = (
    *("--headless=new", "--remote-debugging-pipe", "--no-first-run", "--no-default-browser-check"),
    *("--disable-gpu", "--disable-extensions", "--disable-background-networking", "--mute-audio"),
    *("--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"),
    "--hide-scrollbars",
)
_PATIENCE = 120  # seconds; a busy machine starts a browser slowly


def executable() -> str | None:
    """Return the path of Chromium, None where there is none."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return next((path for path in map(shutil.which, names) if path), None)


class Page:
    """A page of a browser, with what it told and asked for since it was opened.

    Attributes:
        problems: errors and warnings of the console, and exceptions.
        requests: addresses that were asked for.
    """

    def __init__(self, browser: "Browser", session: str) -> None:
        self._browser, self._session = browser, session
        self.problems: list[str] = []
        self.requests: list[str] = []
        self._events: list[str] = []
        for domain in ("Page", "Runtime", "Log", "Network", "DOM", "Accessibility"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command of the protocol and return its result."""
        return self._browser.call(method, self._session, **parameters)

    def hear(self, message: dict[str, Any]) -> None:
        """Take note of an event."""
        method, parameters = message["method"], message["params"]
        self._events.append(method)
        if method == "Runtime.exceptionThrown":
            self.problems.append(json.dumps(parameters["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning"):
            self.problems.append(json.dumps(parameters["args"]))
        elif method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
            self.problems.append(json.dumps(parameters["entry"]))
        elif method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])

    def open(self, path: Path) -> None:
        """Open a file and wait until it is there."""
        self._events.clear()
        self.call("Page.navigate", url=path.absolute().as_uri())
        self._browser.wait(lambda: "Page.loadEventFired" in self._events)

    def run(self, script: str) -> Any:
        """Return what an expression of JavaScript gives, as JSON has it."""
        found = self.call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in found:
            raise AssertionError(json.dumps(found["exceptionDetails"]))
        return found["result"].get("value")

    def resize(self, width: int, height: int, *, phone: bool = False) -> None:
        """Give the page a size in CSS pixels."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=2 if phone else 1, mobile=phone,
        )  # fmt: skip
        self.call("Emulation.setTouchEmulationEnabled", enabled=phone)

    def scheme(self, name: str) -> None:
        """Prefer `light` or `dark`."""
        feature = {"name": "prefers-color-scheme", "value": name}
        self.call("Emulation.setEmulatedMedia", features=[feature])

    def place(self, selector: str) -> tuple[float, float]:
        """Scroll to an element and return the middle of it."""
        box = self.run(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
            "e.scrollIntoView({block: 'center'}); const b = e.getBoundingClientRect();"
            "return [b.x + b.width / 2, b.y + b.height / 2]; })()"
        )
        return box[0], box[1]

    def hover(self, selector: str) -> None:
        """Move the mouse to the middle of an element, from nearby as a hand does."""
        x, y = self.place(selector)
        for near in (2, 0):
            self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x - near, y=y)

    def click(self, selector: str) -> None:
        """Press and release the mouse on an element."""
        x, y = self.place(selector)
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def tap(self, selector: str) -> None:
        """Touch an element."""
        x, y = self.place(selector)
        self.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        self.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def press(self, key: str) -> None:
        """Press and release a key, such as `Tab`."""
        codes = {
            "Tab": 9, "Enter": 13, "Escape": 27, "End": 35, "Home": 36,
            "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40,
        }  # fmt: skip
        common = {"key": key, "code": key, "windowsVirtualKeyCode": codes[key]}
        text = {"text": "\r"} if key == "Enter" else {}
        kind = "keyDown" if text else "rawKeyDown"
        self.call("Input.dispatchKeyEvent", type=kind, **common, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    def picture(self, path: Path, *, whole: bool = False) -> None:
        """Write what the page looks like as a PNG."""
        found = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(found["data"]))


class Browser:
    """A running browser. Messages are JSON texts, each ended by a zero byte."""

    def __init__(self, write: int, read: int) -> None:
        self._write, self._read = write, read
        self._waiting = b""
        self._number = 0
        self._answers: dict[int, dict[str, Any]] = {}
        self._pages: dict[str, Page] = {}

    def page(self) -> Page:
        """Open an empty page."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = self._pages[session] = Page(self, session)
        return page

    def call(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        """Send a command and return its result."""
        self._number += 1
        number = self._number
        message: dict[str, Any] = {"id": number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._write, data) :]
        self.wait(lambda: number in self._answers)
        answer = self._answers.pop(number)
        assert "error" not in answer, (method, parameters, answer)
        return answer["result"]

    def wait(self, done: Any) -> None:
        """Read what the browser says until `done()` holds."""
        end = time.monotonic() + _PATIENCE
        while not done():
            left = end - time.monotonic()
            assert left > 0, "the browser does not answer"
            if select.select([self._read], [], [], left)[0]:
                data = os.read(self._read, 1 << 16)
                assert data, "the browser has ended"
                self._waiting += data
                *messages, self._waiting = self._waiting.split(b"\0")
                for text in messages:
                    self._take(json.loads(text))

    def _take(self, message: dict[str, Any]) -> None:
        if "id" in message:
            self._answers[message["id"]] = message
        elif page := self._pages.get(message.get("sessionId", "")):
            page.hear(message)


def _pipe() -> tuple[int, int]:
    """Return the ends of a pipe, to read and to write, both with numbers from 10 on."""
    ends = os.pipe()
    high = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends]
    for end in ends:
        os.close(end)
    return high[0], high[1]


@contextmanager
def browser(profile: Path) -> Iterator[Browser]:
    """Run a browser whose traces stay in the folder `profile`."""
    path = executable()
    assert path is not None
    # The protocol's pipes have the numbers 3 (to the browser) and 4 (from it); a shell puts the
    # ends there, which must not have these numbers already.
    ours_in, theirs_out = _pipe()
    theirs_in, ours_out = _pipe()
    root = ("--no-sandbox",) if os.geteuid() == 0 else ()  # the sandbox does not run as root
    words = [path, *_FLAGS, *root, f"--user-data-dir={profile}", "about:blank"]
    shell = f'exec "$@" 3<&{theirs_in} 4>&{theirs_out}'
    process = subprocess.Popen(
        ["bash", "-c", shell, "chromium", *words], pass_fds=(theirs_in, theirs_out),
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env={**os.environ, "HOME": str(profile)},
    )  # fmt: skip
    os.close(theirs_in)
    os.close(theirs_out)
    try:
        yield Browser(ours_out, ours_in)
    finally:
        os.close(ours_out)  # the browser ends when its pipe does
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        os.close(ours_in)
