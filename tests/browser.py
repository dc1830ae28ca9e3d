"""A real browser for pages: Chromium by selenium, one for all tests, at two sizes."""

import json
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, TypeVar

import pytest

T = TypeVar("T")
SIZES = {"wide": (1280, 900), "phone": (390, 844)}
PATIENCE = 60.0
"""Seconds after which what a test waits for does not come."""
_FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run "
    "--disable-background-networking --disable-component-update --disable-sync "
    "--disable-dev-shm-usage --hide-scrollbars"
).split()


@contextmanager
def listening(handler: Callable[..., BaseHTTPRequestHandler]) -> Iterator[str]:
    """The address of a server of one's own, with a slash at its end."""
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


class _Pages(SimpleHTTPRequestHandler):
    """The pages of a folder, and no icon."""

    def do_GET(self) -> None:
        if self.path == "/favicon.ico":
            self.send_response(204)
            self.end_headers()
        else:
            super().do_GET()

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address at which the pages of a folder are.

    By HTTP, as workers get them: a page from a file may find its localStorage empty in Chromium
    while the machine is busy (measured: 107 of 400 loads, and none of 341 by HTTP).
    """
    with listening(partial(_Pages, directory=str(folder))) as root:
        yield root


@dataclass
class Taker:
    """A server that shows pages and takes what is posted; the first `busy` posts are refused."""

    address: str = ""
    pages: dict[str, str] = field(default_factory=dict)
    posted: list[tuple[str, bytes]] = field(default_factory=list)
    busy: int = 0


@pytest.fixture
def taker() -> Iterator[Taker]:
    state = Taker()

    class Handler(BaseHTTPRequestHandler):
        def do_OPTIONS(self) -> None:
            self.reply(204)

        def do_GET(self) -> None:
            self.reply(200, state.pages.get(self.path.partition("?")[0], ""))

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            state.posted.append((self.path, body))
            self.reply(503 if len(state.posted) <= state.busy else 200)

        def reply(self, status: int, text: str = "") -> None:
            self.send_response(status)
            self.send_header("Access-Control-Allow-Origin", "*")
            self.send_header("Access-Control-Allow-Headers", "Content-Type")
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text.encode("ascii"))

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with listening(Handler) as root:
        state.address = root.rstrip("/")
        yield state


class Browser:
    """Loads pages, and keeps watch of errors and requests."""

    def __init__(self, driver: Any, folder: Path, root: str) -> None:
        self.driver = driver
        self.folder = folder
        self.root = root
        self.own = {f"{root}favicon.ico"}

    def size(self, name: str) -> None:
        """1280x900, or a phone of 390x844 with touch."""
        width, height = SIZES[name]
        phone = name == "phone"
        self.driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": phone},
        )
        touch = {"enabled": phone, "maxTouchPoints": 1}
        self.driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", touch)

    def write(self, text: str) -> str:
        """Serve a page; its address."""
        path = self.folder / f"page{len(self.own)}.html"
        path.write_text(text, encoding="ascii")
        address = self.root + path.name
        self.own.add(address)
        return address

    def open(self, text: str, query: str = "") -> None:
        """Load a page; earlier messages are forgotten."""
        self.go(self.write(text) + query)

    def go(self, address: str) -> None:
        self.messages()
        self.requests()
        self.own.add(address.partition("?")[0])
        self.driver.get(address)
        self._drawn()
        # pages share one storage; each has its own batch, so drafts do not meet

    def refresh(self) -> None:
        """Load the page anew."""
        self.driver.refresh()
        self._drawn()

    def _drawn(self) -> None:
        """Wait until the page is loaded and drawn: Chromium drops what is pressed before."""
        self.wait("return document.readyState === 'complete'")
        self.driver.execute_async_script(_DRAWN)
        self.wait(_READY)

    def wait(self, code: str, *arguments: object) -> Any:
        """What a piece of JavaScript gives as soon as that is something."""
        return self.until(lambda: self.js(code, *arguments), code)

    def soon(self, code: str, *arguments: object) -> bool:
        """Whether a piece of JavaScript says yes within three seconds."""
        try:
            return bool(self.until(lambda: self.js(code, *arguments), code, 3))
        except AssertionError:
            return False

    def saved(self, name: str) -> Any:
        """What the page saved under a name: browsers make a file before they fill it."""
        path = self.folder / name
        return json.loads(
            self.until(lambda: path.read_text("utf-8") if path.exists() else "", name)
        )

    def until(self, found: Callable[[], T | None], what: str, seconds: float = PATIENCE) -> T:
        """What `found` gives as soon as that is something: the page, or the machine, may be slow.

        Only what never comes takes so many seconds; then the page's messages say why. An
        element that the page drew anew while it was looked at is looked for again.
        """
        from selenium.common.exceptions import StaleElementReferenceException

        end = time.monotonic() + seconds
        while True:
            with suppress(StaleElementReferenceException):
                if value := found():
                    return value
            assert time.monotonic() < end, f"{what} did not come: {self.messages()}"
            time.sleep(0.02)

    def js(self, code: str, *arguments: object) -> Any:
        return self.driver.execute_script(code, *arguments)

    def all(self, selector: str) -> list[Any]:
        """Those that are shown, as they are at one moment."""
        return list(self.js(_SHOWN, selector))

    def one(self, selector: str) -> Any:
        """The first that is shown, as soon as there is one."""
        return self.until(lambda: self.all(selector), selector)[0]

    def texts(self, selector: str) -> list[str]:
        """The texts of those that are shown, as soon as there is one."""
        return self.until(lambda: [node.text for node in self.all(selector)], selector)

    def text(self, selector: str) -> str:
        """The text of the first, as soon as it is there."""
        return str(self.wait(_TEXT, selector)[0])

    def keys(self, *keys: str) -> None:
        """Press keys, wherever the focus is."""
        from selenium.webdriver import ActionChains

        ActionChains(self.driver, duration=0).send_keys(*keys).perform()

    def chord(self, hold: str, *keys: str) -> None:
        from selenium.webdriver import ActionChains

        chain = ActionChains(self.driver, duration=0).key_down(hold)
        for key in keys:
            chain = chain.send_keys(key)
        chain.key_up(hold).perform()

    def click(self, where: Any) -> None:
        """A real click or tap on an element, or on the first that a selector shows."""
        if isinstance(where, str):
            self.until(lambda: self._clicked(self.all(where)), where)
        else:
            self._clicked([where])

    def press(self, label: str) -> None:
        """Click the button whose text starts so."""
        self.until(lambda: self._clicked(self.js(_BUTTON, label)), label)

    def _clicked(self, nodes: list[Any]) -> bool:
        """Click the first, if there is one; the page's own bars must not cover the place."""
        for node in nodes[:1]:
            self.js("arguments[0].scrollIntoView({block: 'center'})", node)
            node.click()
        return bool(nodes)

    def insert(self, text: str) -> None:
        """Type text, of any plane, where the focus is."""
        self.driver.execute_cdp_cmd("Input.insertText", {"text": text})

    def tab_to(self, node: Any, *, group: bool = False) -> None:
        """Press Tab until the focus is there (`group`: on one of its name)."""
        from selenium.webdriver.common.keys import Keys

        for _ in range(200):
            if self.js(_FOCUSED, node, group):
                return
            self.keys(Keys.TAB)
        raise AssertionError(f"the focus does not get to {node.get_attribute('outerHTML')}")

    def mark_by_keys(self, words: str) -> None:
        """Mark words in the text that has the focus, by arrows and Enter."""
        from selenium.webdriver.common.keys import Keys

        self.keys(Keys.RIGHT)
        for _ in range(200):
            way = self.js(_STEER, words)
            if way == "there":
                break
            self.keys(getattr(Keys, way))
        while self.text("mark.cursor") != words:
            assert len(self.text("mark.cursor")) < len(words)
            self.chord(Keys.SHIFT, Keys.RIGHT)
        self.keys(Keys.ENTER)

    def drag(self, words: str, inside: str = ".passage") -> None:
        """Select words with the mouse, from the first to the last letter."""
        first, last = self._where(words, inside)
        self._point("mouse", first, "down", last, "up")

    def tap_ends(self, words: str, inside: str = ".passage") -> None:
        """Tap the first and the last letter of words."""
        for end in (0, 1):
            self._point("touch", self._where(words, inside)[end], "down", "up")

    def _point(self, kind: str, *acts: str | tuple[int, int]) -> None:
        """Move a mouse or finger to places, and press and let go there."""
        from selenium.webdriver import ActionChains
        from selenium.webdriver.common.actions.pointer_input import PointerInput

        chain = ActionChains(self.driver, duration=10, devices=[PointerInput(kind, kind)])
        action = chain.w3c_actions.pointer_action
        for act in acts:
            if isinstance(act, str):
                getattr(action, f"pointer_{act}")()
            else:
                action.move_to_location(*act)
        chain.perform()

    def _where(self, words: str, inside: str) -> tuple[tuple[int, int], tuple[int, int]]:
        """Left end of the first and right end of the last of some words, on the screen."""
        found = self.js(_FIND, words, inside)
        assert found, f"{words!r} does not stand in {inside}"
        (x1, y1), (x2, y2) = found
        return (round(x1), round(y1)), (round(x2), round(y2))

    def submission(self) -> dict[str, Any]:
        """What a preview shows at its end."""
        value: dict[str, Any] = json.loads(self.text("#submission"))
        return value

    def messages(self) -> list[str]:
        """Warnings and errors of the console since the last look."""
        return [m["message"] for m in self.driver.get_log("browser")]

    def requests(self) -> list[str]:
        """Addresses asked for since the last look, other than those of the pages themselves.

        What the browser asks of itself for its first, empty tab (`chrome:`) is not of the page.
        """
        out = []
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                out.append(message["params"]["request"]["url"])
        own = ("data:", "blob:", "chrome:")
        return [u for u in out if not u.startswith(own) and u.partition("?")[0] not in self.own]

    def overflow(self) -> int:
        """Pixels by which the page is wider than the screen."""
        return int(
            self.js("const d = document.documentElement; return d.scrollWidth - d.clientWidth")
        )


# A frame that comes after the page's first.
_DRAWN = "requestAnimationFrame(() => requestAnimationFrame(arguments[0]));"

# A page for workers says when it has its items and what was kept; other pages need no wait.
_READY = """
return !document.getElementById('settings') || document.body.dataset.ready !== undefined;
"""

_TEXT = "const node = document.querySelector(arguments[0]); return node && [node.textContent];"

_SHOWN = """
return [...document.querySelectorAll(arguments[0])]
  .filter((n) => n.checkVisibility({visibilityProperty: true}) && n.getClientRects().length);
"""

_BUTTON = """
return [...document.querySelectorAll('button')]
  .filter((b) => b.checkVisibility() && b.innerText.trim().startsWith(arguments[0]));
"""

_FOCUSED = """
const [node, group] = arguments, now = document.activeElement;
return node === now || (group && now.type === 'radio' && now.name === node.name);
"""

# The key that brings the cursor of a text nearer to some words.
_STEER = """
const words = arguments[0];
const all = [...document.activeElement.querySelectorAll('p')];
const there = all.findIndex((p) => p.textContent.includes(words));
const mark = document.activeElement.querySelector('mark.cursor');
const own = mark.closest('p'), here = all.indexOf(own);
if (here !== there) return here < there ? 'DOWN' : 'UP';
const before = document.createRange();
before.setStart(own, 0);
before.setEndBefore(mark);
const gap = own.textContent.indexOf(words) - before.toString().length;
return gap ? (gap > 0 ? 'RIGHT' : 'LEFT') : 'there';
"""

_FIND = """
const [words, inside] = arguments;
for (const box of document.querySelectorAll(inside)) {
  if (!box.offsetParent) continue;
  const walk = document.createTreeWalker(box, NodeFilter.SHOW_TEXT);
  const nodes = [];
  let text = '';
  while (walk.nextNode()) {
    nodes.push([walk.currentNode, text.length]);
    text += walk.currentNode.data;
  }
  const at = text.indexOf(words);
  if (at < 0) continue;
  const letter = (i) => {
    const [node, base] = nodes.filter((n) => n[1] <= i).pop();
    const range = document.createRange();
    range.setStart(node, i - base);
    range.setEnd(node, i - base + 1);
    return range;
  };
  letter(at).startContainer.parentElement.scrollIntoView({block: 'center', behavior: 'instant'});
  const a = letter(at).getBoundingClientRect();
  const b = letter(at + words.length - 1).getBoundingClientRect();
  return [[a.left + 1, a.top + a.height / 2], [b.right - 1, b.top + b.height / 2]];
}
return null;
"""


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The driver of one Chromium; skips where it, its driver or selenium is not installed."""
    program = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chrome")
    chromedriver = os.environ.get("CHROMEDRIVER") or shutil.which("chromedriver")
    if not program or not chromedriver:
        pytest.skip(
            "no browser: install chromium and chromium-driver, or set CHROMIUM and CHROMEDRIVER"
        )
    webdriver = pytest.importorskip("selenium.webdriver", reason="needs selenium (extra dev)")
    from selenium.webdriver.chrome.service import Service

    profile = tmp_path_factory.mktemp("profile")
    options = webdriver.ChromeOptions()
    options.binary_location = program
    for flag in (*_FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    service = Service(executable_path=chromedriver, log_output=subprocess.DEVNULL)
    driver = webdriver.Chrome(options=options, service=service)
    try:
        yield driver
    finally:
        driver.quit()


@pytest.fixture(scope="module")
def browser(chromium: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """The session's Chromium as if it had just begun, with a folder and an address of its own."""
    folder = tmp_path_factory.mktemp("pages")
    chromium.get("about:blank")
    for command, more in (
        ("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(folder)}),
        ("Emulation.clearDeviceMetricsOverride", {}),
        ("Emulation.setTouchEmulationEnabled", {"enabled": False}),
        ("Network.clearBrowserCookies", {}),
    ):
        chromium.execute_cdp_cmd(command, more)
    for kind in ("browser", "performance"):
        chromium.get_log(kind)  # what the tests of another file did
    with served(folder) as root:
        yield Browser(chromium, folder, root)
