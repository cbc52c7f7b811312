"""Asking axe what is wrong with a page, and nothing else: all that it finds right is megabytes."""

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
    """Return what axe finds wrong with a page as it is shown now: its rule, and where.

    Args:
        page: what is tested.
        serious: leave out what axe itself calls minor or moderate.
        left_out: a selector of what is not ours.
    """
    return _found(page, serious, left_out, "")


def faults_in_both_schemes(page: Page, *, serious: bool = False) -> list[Any]:
    """Return what axe finds wrong with a page, in light and in dark.

    The schemes differ in colours alone (``site.css``), so axe is asked about all else once. With
    ``full`` it is asked in both; otherwise in one, which depends on the title of the page: pages
    share their colours.
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
