"""Measures drawings of large maps in the browser: how soon they are usable, how smoothly they move.

Each map is generated, unfolded on its page, and dragged with the mouse for some seconds in headless
Chromium, which draws without a graphics card. The frames are counted in Chromium's own trace, at
most 60 a second::

    python scripts/drawing_speed.py
"""

import argparse
import random
import statistics
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from math import cos, sin
from pathlib import Path
from typing import Final
from xml.sax.saxutils import quoteattr

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import httpx
import orjson
from playwright.sync_api import Browser, Page, sync_playwright
from tests.site.browser import DRAWN, launched, served

WORDS: Final = ("water", "plan", "code", "idea", "budget", "house", "travel", "garden", "history")
CHILDREN: Final = 6
STEPS: Final = 60
"""Mouse movements in a round."""

FRAMES: Final = ["disabled-by-default-devtools.timeline.frame"]
"""The categories of events in the trace."""


def main() -> int:
    """Measure and print a table."""
    given = _arguments()
    with tempfile.TemporaryDirectory() as folder:
        maps = Path(folder, "maps")
        maps.mkdir()
        for size in given.topics:
            (maps / f"{size} topics.opml").write_text(_map_of(size), encoding="utf-8")
        data = Path(folder, "data")
        command = [sys.executable, "-m", "mapshelf", "import", str(maps), "--data", str(data)]
        subprocess.run(command, check=True)
        print(f"{'topics':>7} {'usable ms':>9} {'frames/s':>8} {'slow frame ms':>13}")
        with served(data) as address, sync_playwright() as playwright:
            while httpx.get(f"{address}/readyz").status_code != 200:
                time.sleep(0.5)
            browser = launched(playwright)
            for size in given.topics:
                print(_row(size, browser, address, given), flush=True)
            browser.close()
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--topics", type=int, nargs="+", default=[3_300, 20_000])
    parser.add_argument("--turns", type=int, default=4, help="rounds of dragging; default: 4")
    parser.add_argument("--visits", type=int, default=3)
    return parser.parse_args()


def _map_of(size: int) -> str:
    """Return a map with that many topics as OPML, each with up to six children and a few words."""
    chance = random.Random(size)  # noqa: S311
    children: dict[int, list[int]] = {}
    for topic in range(1, size):
        children.setdefault((topic - 1) // CHILDREN, []).append(topic)

    def text(topic: int) -> str:
        words = " ".join(chance.choice(WORDS) for _ in range(chance.randint(1, 6)))
        inside = "".join(text(child) for child in children.get(topic, ()))
        return f"<outline text={quoteattr(words if topic else _title(size))}>{inside}</outline>"

    return f'<opml version="2.0"><body>{text(0)}</body></opml>'


def _title(size: int) -> str:
    return f"{size} topics"


def _row(size: int, browser: Browser, address: str, given: argparse.Namespace) -> str:
    usable, gaps = [], []
    for _ in range(given.visits):
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.goto(address)
        page.get_by_role("link", name=_title(size)).first.click()
        page.wait_for_function(DRAWN)
        usable.append(float(page.evaluate("() => performance.now()")))
        gaps += _drag(browser, page, given.turns)
        page.close()
    rate = 1000 / statistics.fmean(gaps)
    slow = statistics.quantiles(gaps, n=100)[98]
    return f"{size:7} {statistics.median(usable):9.0f} {rate:8.1f} {slow:13.0f}"


def _drag(browser: Browser, page: Page, turns: int) -> list[float]:
    """Unfold everything, drag the drawing in circles, and return milliseconds between frames."""
    page.get_by_role("button", name="Unfold everything").click()
    page.wait_for_timeout(500)
    box = page.locator("#stage").bounding_box()
    assert box is not None
    across, down = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(across, down)
    page.mouse.down()
    browser.start_tracing(page=page, categories=FRAMES)
    for step in range(turns * STEPS):
        angle = step / STEPS * 6.283
        page.mouse.move(across + 300 * sin(angle), down + 250 * (1 - cos(angle)) / 2)
    events = orjson.loads(browser.stop_tracing())["traceEvents"]
    page.mouse.up()
    times = sorted(event["ts"] / 1000 for event in events if event["name"] == "DrawFrame")
    return [later - earlier for earlier, later in pairwise(times)]


if __name__ == "__main__":
    sys.exit(main())
