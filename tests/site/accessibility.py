"""Run axe on a page and return only the violations: its full report takes megabytes."""

from typing import Any, Final
from zlib import crc32

from axe_core_python.sync_playwright import Axe
from playwright.sync_api import Page

from tests.examples import is_full

SCHEMES: Final = ("light", "dark")

_SCRIPT: Final = Axe().axe_script
_ASKED: Final = """async ([left_out, only]) => {
    const options = {resultTypes: ["violations"]};
    if (only) options.runOnly = {type: "rule", values: [only]};
    const context = {include: [["html"]], exclude: left_out.map((one) => [one])};
    const found = await axe.run(context, options);
    return found.violations.map((fault) => [
        fault.impact, fault.id, fault.nodes.slice(0, 3).map((node) => node.html.slice(0, 200)),
    ]);
}"""


def faults(page: Page, *, serious: bool = False, left_out: str = "") -> list[Any]:
    """Return the violations that axe finds on the page as it is shown now: rule and elements.

    Args:
        page: the page to check.
        serious: leave out violations that axe rates minor or moderate.
        left_out: a selector of the elements to ignore.
    """
    return _found(page, serious, left_out, "")


def faults_in_both_schemes(page: Page, *, serious: bool = False) -> list[Any]:
    """Return the violations that axe finds on a page in light and dark mode.

    The modes differ only in colours (``site.css``), so all other rules run once. With ``full``
    both modes are checked. Otherwise only one is, chosen by the title of the page: all pages use
    the same colours.
    """
    found = []
    asked = list(zip(SCHEMES, ("", "color-contrast"), strict=True))
    if not is_full():
        asked = [(SCHEMES[crc32(page.title().encode()) % len(SCHEMES)], "")]
    for scheme, only in asked:
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
        found += [(scheme, fault) for fault in _found(page, serious, "", only)]
    return found


def _found(page: Page, serious: bool, left_out: str, only: str) -> list[Any]:
    if not page.evaluate("'axe' in window"):
        page.evaluate(_SCRIPT)
    found = page.evaluate(_ASKED, [[left_out] if left_out else [], only])
    return [rest for impact, *rest in found if not serious or impact in ("serious", "critical")]
