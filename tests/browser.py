"""A real browser for pages: Chromium by selenium, one for all tests, at two sizes."""

import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from http.server import SimpleHTTPRequestHandler
from pathlib import Path
from typing import Any, TypeVar

import pytest

from tests.file_server import serve_requests
from tests.tables import column_of

T = TypeVar("T")
# a small laptop, and a phone
SIZES = {"wide": (1280, 900), "phone": (390, 844)}
_ASKED = Path(__file__).with_name("browser.js").read_text("utf-8")
_DRAWN = "requestAnimationFrame(() => requestAnimationFrame(arguments[0]));"
"""A frame that comes after the page's first."""
PATIENCE = 60.0
"""Seconds after which what a test waits for does not come."""
_FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run "
    "--disable-background-networking --disable-component-update --disable-sync "
    "--disable-dev-shm-usage --hide-scrollbars"
).split()


@dataclass
class Taker:
    """A server that takes what is posted; the first `busy` posts are refused."""

    address: str = ""
    posted: list[tuple[str, bytes]] = field(default_factory=list)
    busy: int = 0


class _Pages(SimpleHTTPRequestHandler):
    """The pages of a folder, and a place to post to from other pages."""

    def __init__(self, *args: Any, taker: Taker, **more_values: Any) -> None:
        self.taker = taker
        super().__init__(*args, **more_values)

    def do_OPTIONS(self) -> None:
        self.answer(204)

    def do_GET(self) -> None:
        if self.path == "/favicon.ico":
            self.answer(204)
        else:
            super().do_GET()

    def do_POST(self) -> None:
        posted_body = self.rfile.read(int(self.headers["Content-Length"]))
        self.taker.posted.append((self.path, posted_body))
        self.answer(503 if len(self.taker.posted) <= self.taker.busy else 200)

    def answer(self, status: int) -> None:
        self.send_response(status)
        for name in ("Origin", "Headers"):
            self.send_header(f"Access-Control-Allow-{name}", "*")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def served(folder: Path) -> Iterator[Taker]:
    """A server of the pages of a folder.

    By HTTP, as workers get them: a page from a file may find its localStorage empty in Chromium
    while the machine is busy (measured: 107 of 400 loads, and none of 341 by HTTP).
    """
    taker = Taker()
    with serve_requests(partial(_Pages, directory=str(folder), taker=taker)) as taker.address:
        yield taker


@pytest.fixture
def taker(tmp_path: Path) -> Iterator[Taker]:
    """A server of another origin than the pages'."""
    with served(tmp_path) as file_server:
        yield file_server


class Browser:
    """Loads pages, and keeps watch of errors and requests."""

    def __init__(self, driver: Any, folder: Path, root: str) -> None:
        from selenium.common.exceptions import StaleElementReferenceException
        from selenium.webdriver import ActionChains
        from selenium.webdriver.common.keys import Keys

        self.chain, self.named = partial(ActionChains, driver), Keys
        self.stale = StaleElementReferenceException
        self.driver = driver
        self.folder = folder
        self.root = root
        self.own = {f"{root}/favicon.ico"}

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
        file_path = self.folder / f"page{len(self.own)}.html"
        file_path.write_text(text, encoding="ascii")
        address = f"{self.root}/{file_path.name}"
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
        self.until(lambda: self.ask("ready"), "the page")
        self.driver.execute_async_script(_DRAWN)
        self.until(lambda: self.ask("ready"), "all of the page")

    def wait(self, code: str, *arguments: object) -> Any:
        """What a piece of JavaScript gives as soon as that is something."""
        return self.until(lambda: self.js(code, *arguments), code)

    def soon(self, name: str, *arguments: object) -> bool:
        """Whether one of the functions of `browser.js` says yes within three seconds."""
        try:
            return bool(self.until(lambda: self.ask(name, *arguments), name, 3))
        except AssertionError:
            return False

    def saved(self, name: str) -> Any:
        """What the page saved under a name: browsers make a file before they fill it."""
        file_path = self.folder / name
        return json.loads(
            self.until(lambda: file_path.read_text("utf-8") if file_path.exists() else "", name)
        )

    def until(self, condition: Callable[[], T | None], what: str, seconds: float = PATIENCE) -> T:
        """What `found` gives as soon as that is something: the page, or the machine, may be slow.

        Only what never comes takes so many seconds; then the page's messages say why. An
        element that the page drew anew while it was looked at is looked for again.
        """
        end = time.monotonic() + seconds
        while True:
            with suppress(self.stale):
                if answer_value := condition():
                    return answer_value
            assert time.monotonic() < end, f"{what} did not come: {self.messages()}"
            time.sleep(0.02)

    def js(self, code: str, *arguments: object) -> Any:
        return self.driver.execute_script(code, *arguments)

    def ask(self, name: str, *arguments: object) -> Any:
        """What one of the functions of `browser.js` says."""
        return self.js(f"{_ASKED}\nreturn {name}(...arguments);", *arguments)

    def all(self, selector: str) -> list[Any]:
        """Those that are shown, as they are at one moment."""
        return list(self.ask("shown", selector))

    def one(self, selector: str) -> Any:
        """The first that is shown, as soon as there is one."""
        return self.until(lambda: self.all(selector), selector)[0]

    def texts(self, selector: str) -> list[str]:
        """The texts of those that are shown, as soon as there is one."""
        return self.until(lambda: [node.text for node in self.all(selector)], selector)

    def text(self, selector: str) -> str:
        """The text of the first, as soon as it is there."""
        return str(self.until(lambda: self.ask("text", selector), selector)[0])

    def keys(self, *keys: str) -> None:
        """Press keys, wherever the focus is."""
        self.chain(duration=0).send_keys(*keys).perform()

    def chord(self, hold: str, *keys: str) -> None:
        self.chain(duration=0).key_down(hold).send_keys(*keys).key_up(hold).perform()

    def click(self, where: Any) -> None:
        """A real click or tap on an element, or on the first that a selector shows."""
        if isinstance(where, str):
            self.until(lambda: self._clicked(self.all(where)), where)
        else:
            self._clicked([where])

    def begin(self) -> None:
        """Agree to take part, and leave the instructions for the first item."""
        self.press("I have read this")
        self.press("Begin")

    def begin_trained(self, layout: str, worker: str) -> None:
        """The same for a worker who has practised the task before: the page is loaded again."""
        key = f"factdrift:trained:{layout}:{worker}"
        self.js("localStorage.setItem(arguments[0], JSON.stringify([1, 'yes']))", key)
        self.refresh()
        self.begin()

    def press(self, label: str) -> None:
        """Click the button whose text starts so."""
        self.until(lambda: self._clicked(self.ask("button", label)), label)

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
        for _ in range(200):
            if self.ask("focused", node, group):
                return
            self.keys(self.named.TAB)
        raise AssertionError(f"the focus does not get to {node.get_attribute('outerHTML')}")

    def mark_by_keys(self, command_words: str) -> None:
        """Mark words in the text that has the focus, by arrows and Enter."""
        self.keys(self.named.RIGHT)
        for _ in range(200):
            way = self.ask("steer", command_words)
            if way == "there":
                break
            self.keys(getattr(self.named, way))
        while self.text("mark.cursor") != command_words:
            assert len(self.text("mark.cursor")) < len(command_words)
            self.chord(self.named.SHIFT, self.named.RIGHT)
        self.keys(self.named.ENTER)

    def drag(self, command_words: str, inside: str = ".passage") -> None:
        """Select words with the mouse, from the first to the last letter."""
        first_place, last = self._where(command_words, inside)
        self._point("mouse", first_place, "down", last, "up")

    def tap_ends(self, command_words: str, inside: str = ".passage") -> None:
        """Tap the first and the last letter of words."""
        for end in (0, 1):
            self._point("touch", self._where(command_words, inside)[end], "down", "up")

    def _point(self, kind: str, *acts: str | tuple[int, int]) -> None:
        """Move a mouse or finger to places, and press and let go there."""
        from selenium.webdriver.common.actions.pointer_input import PointerInput

        chain = self.chain(duration=10, devices=[PointerInput(kind, kind)])
        action = chain.w3c_actions.pointer_action
        for act in acts:
            if isinstance(act, str):
                getattr(action, f"pointer_{act}")()
            else:
                action.move_to_location(*act)
        chain.perform()

    def _where(self, command_words: str, inside: str) -> tuple[tuple[int, int], tuple[int, int]]:
        """Left end of the first and right end of the last of some words, on the screen."""
        places = self.ask("find", command_words, inside)
        assert places, f"{command_words!r} does not stand in {inside}"
        (x1, y1), (x2, y2) = places
        return (round(x1), round(y1)), (round(x2), round(y2))

    def submission(self) -> dict[str, Any]:
        """What a preview shows at its end."""
        answer_value: dict[str, Any] = json.loads(self.text("#submission"))
        return answer_value

    def messages(self) -> list[str]:
        """Warnings and errors of the console since the last look."""
        return column_of(self.driver.get_log("browser"), "message")

    def requests(self) -> list[str]:
        """Addresses asked for since the last look, other than those of the pages themselves.

        What the browser asks of itself for its first, empty tab (`chrome:`) is not of the page.
        """
        request_addresses = []
        for entry in self.driver.get_log("performance"):
            expected_message = json.loads(entry["message"])["message"]
            if expected_message["method"] == "Network.requestWillBeSent":
                request_addresses.append(expected_message["params"]["request"]["url"])
        own_schemes = ("data:", "blob:", "chrome:")
        return [
            address
            for address in request_addresses
            if not address.startswith(own_schemes) and address.partition("?")[0] not in self.own
        ]

    def overflow(self) -> int:
        """Pixels by which the page is wider than the screen."""
        return int(
            self.js("const d = document.documentElement; return d.scrollWidth - d.clientWidth")
        )


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The driver of one Chromium; skips where it, its driver or selenium is not installed."""
    browser_program = (
        os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chrome")
    )
    chromedriver = os.environ.get("CHROMEDRIVER") or shutil.which("chromedriver")
    if not browser_program or not chromedriver:
        pytest.skip(
            "no browser: install chromium and chromium-driver, or set CHROMIUM and CHROMEDRIVER"
        )
    webdriver = pytest.importorskip("selenium.webdriver", reason="needs selenium (extra dev)")
    from selenium.webdriver.chrome.service import Service

    profile = tmp_path_factory.mktemp("profile")
    browser_options = webdriver.ChromeOptions()
    browser_options.binary_location = browser_program
    for flag in (*_FLAGS, f"--user-data-dir={profile}"):
        browser_options.add_argument(flag)
    browser_options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    service = Service(executable_path=chromedriver, log_output=subprocess.DEVNULL)
    driver = webdriver.Chrome(options=browser_options, service=service)
    try:
        yield driver
    finally:
        driver.quit()


@pytest.fixture(scope="module")
def browser(chromium: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """The session's Chromium as if it had just begun, with a folder and an address of its own."""
    folder = tmp_path_factory.mktemp("pages")
    chromium.get("about:blank")
    for chosen_command, more_values in (
        ("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(folder)}),
        ("Emulation.clearDeviceMetricsOverride", {}),
        ("Emulation.setTouchEmulationEnabled", {"enabled": False}),
        ("Network.clearBrowserCookies", {}),
    ):
        chromium.execute_cdp_cmd(chosen_command, more_values)
    for kind in ("browser", "performance"):
        chromium.get_log(kind)  # what the tests of another file did
    with served(folder) as pages:
        yield Browser(chromium, folder, pages.address)
