"""A real browser that opens pages of a real ``mapshelf serve``.

The browser is Debian's Chromium, driven over its own protocol; the headless variant takes half the
time. Without either, these tests are skipped. A test fails if a page it opened logs a warning or an
error, has a script error, a failed request or a violation of its content security policy.
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
"""The path of the browser, or ``None`` if there is none."""

OPTIONS: Final = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
"""No sandbox: it needs rights that containers rarely have, and only our own pages are opened."""

PATIENCE: Final = 120.0
"""The most seconds until the service has started, or a page has loaded completely."""

QUIET: Final = 4
"""Checks in a row, 25 ms apart, without an unanswered request: then a page is settled."""

DRAWN: Final = """() => {
    const stage = document.querySelector("#stage[data-drawing]");
    return !stage || stage.classList.contains("alive");
}"""
"""JavaScript that returns whether the map of a page is drawn, if there is one."""


def launched(playwright: Playwright) -> Browser:
    """Return a running browser."""
    return playwright.chromium.launch(executable_path=CHROMIUM, args=list(OPTIONS))


@contextmanager
def served(data: Path, *options: str, host: str = "127.0.0.1") -> Iterator[str]:
    """Run a service for the catalogue in ``data``; yield its address, at a name of this machine."""
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
    """A browser context that records every error on its pages."""

    def __init__(self, browser: Browser, address: str, **settings: Any) -> None:
        self.address = address
        self.context = browser.new_context(base_url=address, **settings)
        self.context.set_default_timeout(30_000)
        self.context.set_default_navigation_timeout(90_000)  # such as for a page of 20,000 topics
        expect.set_options(timeout=30_000)  # long, because the machine may be busy
        self.complaints: list[str] = []
        self._scripts = settings.get("java_script_enabled", True)
        self._unanswered: set[Request] = set()

    def open(self, path: str) -> Page:
        """Open a new page, and wait until it has loaded completely."""
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
        """Open another address in ``page``, and wait until it has loaded completely."""
        page.goto(path)
        self.settle(page)

    def settle(self, page: Page) -> None:
        """Wait until the map is drawn, if there is one, and every request has been answered.

        The browser's own state "networkidle" means the same, but always takes half a second longer.
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
        """Reset the context for the next test, and fail if a page had an error."""
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
        """Close the context, and fail if a page had an error."""
        self.context.close()
        assert not self.complaints, self.complaints

    def _said(self, message: ConsoleMessage) -> None:
        """Record a console message, except a 503 for a thumbnail: the page requests it again."""
        busy = "status of 503" in message.text and "/thumbnails/" in message.location["url"]
        if not busy:
            self._note(message.type, f"{message.text} {message.location['url']}")

    def _note(self, kind: str, text: str) -> None:
        if kind in ("error", "warning"):
            self.complaints.append(text)

    def _answered(self, sent: Request) -> None:
        self._unanswered.discard(sent)

    def _failed(self, sent: Request) -> None:
        self._unanswered.discard(sent)
        why = sent.failure or ""
        if "ERR_ABORTED" not in why:  # the next search, or the start of a download
            self.complaints.append(f"{sent.url}: {why}")

    def _asked(self, sent: Request) -> None:
        self._unanswered.add(sent)
        if not sent.url.startswith((self.address, "data:", "blob:", "about:")):
            self.complaints.append(f"request to another host: {sent.url}")


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
