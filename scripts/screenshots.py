"""Takes the screenshots of pages in ``docs``: the library and a map, with the sample maps.

It needs only Chromium, like the tests of the pages. Look at the pictures before you commit them.
"""

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from playwright.sync_api import Page, sync_playwright
from tests.site.browser import launched, served

ROOT: Final = Path(__file__).resolve().parent.parent
DOCS: Final = ROOT / "docs"
SIZE: Final = {"width": 1120, "height": 700}
MAP: Final = "The solar system"


def main() -> int:
    """Serve the samples and take the screenshots."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        command = [sys.executable, "-m", "mapshelf", "import", str(ROOT / "examples")]
        subprocess.run([*command, "--data", folder, "--owner", "demo"], check=True)
        browser = launched(playwright)
        with served(Path(folder)) as address:
            for name, scheme in (("library", "light"), ("map", "dark")):
                page = browser.new_page(
                    base_url=address,
                    viewport=SIZE,  # type: ignore[arg-type] # a TypedDict of the same keys
                    color_scheme=scheme,  # type: ignore[arg-type] # one of its literals
                )
                page.goto("/?order_by=alpha" if name == "library" else f"/?query={MAP}")
                if name == "map":
                    _open(page)
                page.wait_for_load_state("networkidle")
                page.screenshot(path=DOCS / f"{name}.png")
        browser.close()
    return 0


def _open(page: Page) -> None:
    page.get_by_role("link", name=MAP, exact=True).last.click()
    page.locator("#stage.alive").wait_for()


if __name__ == "__main__":
    sys.exit(main())
