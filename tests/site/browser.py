"""A real browser in front of a real ``mapshelf serve``.

The browser is Chromium as Debian packages it, driven over its own protocol; its variant without a
screen takes half the time. Whoever has neither has these tests skipped. Whatever a page complains
about (its console, an error of a script, a request that fails, a policy that is broken) fails the
test that opened it.
"""

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import httpx
from playwright.sync_api import Browser, ConsoleMessage, Page, Playwright, Request, expect

CHROMIUM: Final = (
    os.environ.get("MAPSHELF_CHROMIUM")
    or shutil.which("chromium-headless-shell")
    or shutil.which("chromium")
)
"""The browser's program, ``None`` if there is none."""

OPTIONS: Final = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
"""The sandbox needs rights that containers seldom give; nothing but our own pages is opened."""

PATIENCE: Final = 120.0
"""Seconds for the service to start, and for a page to be all there."""

QUIET: Final = 4
"""Looks, a fortieth of a second apart, at which no request may be unanswered."""

DRAWN: Final = """() => {
    const stage = document.querySelector("#stage[data-drawing]");
    return !stage || stage.classList.contains("alive");
}"""
"""Tells whether the map of a page is drawn, if it has one."""


def launched(playwright: Playwright) -> Browser:
    """Return a running browser."""
    return playwright.chromium.launch(executable_path=CHROMIUM, args=list(OPTIONS))


@contextmanager
def served(data: Path, *options: str, host: str = "127.0.0.1") -> Iterator[str]:
    """Give the address of a service over the catalogue in ``data``, at a name of this machine."""
    with socket.socket() as trial:
        trial.bind(("127.0.0.1", 0))
        port = trial.getsockname()[1]
    command = [sys.executable, "-m", "mapshelf", "serve", "--data", str(data)]
    address = f"http://{host}:{port}"
    command += ["--port", str(port), "--workers", "1", "--base-url", address, *options]
    with (data / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        _wait(f"{address}/openapi.json", data / "log")
        yield address
    finally:
        process.terminate()
        assert process.wait(60) == 0
    assert "Traceback" not in (data / "log").read_text()


def _wait(address: str, log: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            if httpx.get(address).status_code == 200:
                return
        except httpx.TransportError:
            pass
        assert time.monotonic() < deadline, log.read_text()
        time.sleep(0.1)


class Reader:
    """Somebody with a browser, who notes everything that goes wrong in it."""

    def __init__(self, browser: Browser, address: str, **settings: Any) -> None:
        self.address = address
        self.context = browser.new_context(base_url=address, **settings)
        self.context.set_default_timeout(30_000)
        self.context.set_default_navigation_timeout(90_000)  # a page of 20,000 topics, say
        expect.set_options(timeout=30_000)  # like all else: a busy machine is slow, not wrong
        self.complaints: list[str] = []
        self._scripts = settings.get("java_script_enabled", True)
        self._unanswered: set[Request] = set()

    def open(self, path: str) -> Page:
        """Open a page, and wait until it is all there."""
        page = self.context.new_page()
        page.on("console", self._said)
        page.on("pageerror", lambda error: self._note("error", str(error)))
        page.on("requestfailed", self._failed)
        page.on("request", self._asked)
        page.on("requestfinished", self._answered)
        page.on("dialog", lambda dialog: self._note("error", f"dialog {dialog.message}"))
        self.go(page, path)
        return page

    def go(self, page: Page, path: str) -> None:
        """Open another address in ``page``, and wait until it is all there."""
        page.goto(path)
        self.settle(page)

    def settle(self, page: Page) -> None:
        """Wait until the map is drawn, if there is one, and every request has been answered.

        The browser's own state "networkidle" says the same, but always waits half a second more.
        """
        if self._scripts:
            page.wait_for_function(DRAWN)
        deadline = time.monotonic() + PATIENCE
        quiet = 0
        while quiet < QUIET:
            page.wait_for_timeout(25)
            quiet = 0 if self._unanswered else quiet + 1
            assert time.monotonic() < deadline, [sent.url for sent in self._unanswered]

    def rest(self) -> None:
        """Forget everything, for somebody else; what the browser complained of is an error."""
        for page in self.context.pages:
            if self._scripts and page.url.startswith(self.address):
                page.evaluate("localStorage.clear()")
            page.close()
        self.context.unroute_all()
        self.context.clear_cookies()
        complaints, self.complaints = self.complaints, []
        self._unanswered.clear()
        assert not complaints, complaints

    def close(self) -> None:
        """End the session; what the browser complained of is an error."""
        self.context.close()
        assert not self.complaints, self.complaints

    def _said(self, message: ConsoleMessage) -> None:
        """Note a message, unless it is about a thumbnail: the page asks for it again."""
        busy = "status of 503" in message.text and "/thumbnails/" in message.location["url"]
        if not busy:
            self._note(message.type, message.text)

    def _note(self, kind: str, text: str) -> None:
        if kind in ("error", "warning"):
            self.complaints.append(text)

    def _answered(self, sent: Request) -> None:
        self._unanswered.discard(sent)

    def _failed(self, sent: Request) -> None:
        self._unanswered.discard(sent)
        why = sent.failure or ""
        if "ERR_ABORTED" not in why:  # what was typed next, or a download that began
            self.complaints.append(f"{sent.url}: {why}")

    def _asked(self, sent: Request) -> None:
        self._unanswered.add(sent)
        if not sent.url.startswith((self.address, "data:", "blob:", "about:")):
            self.complaints.append(f"asked somebody else: {sent.url}")


def settled(page: Page) -> None:
    """Wait until the map has stopped moving."""
    page.evaluate("() => { window.before = null; }")
    page.wait_for_function(
        """() => {
            const now = document.querySelector("#stage > svg > g").getAttribute("transform");
            const still = now === window.before;
            window.before = now;
            return still;
        }""",
        polling=120,
    )
