"""Measures how fast pages load on a slow phone with a slow connection.

Chromium emulates both: 1.6 Mbit/s with a round trip of 150 ms, a processor four times slower, and
an empty cache, like a slow 4G phone in Lighthouse. The service runs on the same machine, with the
sample maps or the catalogue in a given folder, and with cached pictures. Times are medians of
several visits, in milliseconds from the click::

    python scripts/page_speed.py
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from playwright.sync_api import Browser, sync_playwright
from tests.site.browser import launched, served

ROOT: Final = Path(__file__).resolve().parent.parent

LINE: Final = {
    "offline": False,
    "latency": 150,
    "downloadThroughput": 1_600_000 // 8,
    "uploadThroughput": 750_000 // 8,
}
SLOWNESS: Final = 4
SCREENS: Final = {"phone": (360, 740), "desk": (1440, 900)}

MARKS: Final = """() => new Promise(done => new PerformanceObserver(list => {
    const [page] = performance.getEntriesByType("navigation");
    const paints = performance.getEntriesByType("paint");
    done({
        first: paints.find(one => one.name === "first-contentful-paint").startTime,
        usable: page.domContentLoadedEventEnd,
        largest: list.getEntries().at(-1).startTime,
        whole: page.loadEventEnd,
    });
}).observe({type: "largest-contentful-paint", buffered: true}))"""
"""First paint; end of the scripts, when the page is usable; largest picture; everything."""


def main() -> int:
    """Measure and print a table."""
    given = _arguments()
    print(
        f"{'page':24} {'screen':6} {'KB':>6} {'first':>6} {'usable':>6} {'largest':>7} {'all':>6}"
    )
    with _catalogue(given.data) as folder, sync_playwright() as playwright:
        browser = launched(playwright)
        with served(folder) as address:
            for path in given.paths or ("/", _some_map(browser, address), "/docs"):
                for screen in SCREENS:
                    _visit(browser, address + path, screen)  # the pictures are made
                    visits = [_visit(browser, address + path, screen) for _ in range(given.visits)]
                    print(_row(path, screen, visits), flush=True)
        browser.close()
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="a data folder; default: the sample maps")
    parser.add_argument("--visits", type=int, default=5)
    parser.add_argument("paths", metavar="PATH", nargs="*", help="such as /?query=water")
    return parser.parse_args()


@contextmanager
def _catalogue(data: Path | None) -> Iterator[Path]:
    if data is not None:
        yield data
        return
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "mapshelf", "import", str(ROOT / "examples")]
        subprocess.run([*command, "--data", folder, "--owner", "demo"], check=True)
        yield Path(folder)


def _some_map(browser: Browser, address: str) -> str:
    page = browser.new_page()
    page.goto(f"{address}/?order_by=alpha")
    path = page.locator(".card .name a").first.get_attribute("href")
    page.close()
    assert path is not None
    return path


def _visit(browser: Browser, url: str, screen: str) -> dict[str, float]:
    width, height = SCREENS[screen]
    context = browser.new_context(viewport={"width": width, "height": height})
    page = context.new_page()
    session = context.new_cdp_session(page)
    took = 0

    def count(finished: dict[str, Any]) -> None:
        nonlocal took
        took += finished["encodedDataLength"]

    session.on("Network.loadingFinished", count)
    session.send("Network.enable")
    session.send("Network.emulateNetworkConditions", LINE)
    session.send("Emulation.setCPUThrottlingRate", {"rate": SLOWNESS})
    page.goto(url)
    page.wait_for_load_state("networkidle")
    marks: dict[str, float] = page.evaluate(MARKS)
    context.close()
    return {"bytes": took, **marks}


def _row(path: str, screen: str, visits: list[dict[str, float]]) -> str:
    middle = {name: statistics.median(visit[name] for visit in visits) for name in visits[0]}
    return (
        f"{path[:24]:24} {screen:6} {middle['bytes'] / 1000:6.0f} {middle['first']:6.0f}"
        f" {middle['usable']:6.0f} {middle['largest']:7.0f} {middle['whole']:6.0f}"
    )


if __name__ == "__main__":
    sys.exit(main())
