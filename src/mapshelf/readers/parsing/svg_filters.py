"""Estimate the cost of SVG filters, masks and clip paths, and remove costly ones.

A filter computes every pixel of its target once per step. A mask or clip path is drawn again for
each use, even inside other ones. A file of a few hundred bytes can thus require hours. Clip paths
outside other ones are not counted: drawing programs use hundreds of small ones. The estimate is an
upper bound, which assumes that every element covers the whole image. So the limit is generous, and
the limits of the child process that draws (``render.image_worker``) stop slow images below it.
"""

import re
from typing import Final
from xml.etree.ElementTree import Element

_MOST_WORK: Final = 500_000_000
"""Pixels that filters may compute: drawing programs give hundreds of shapes a shadow."""

_FUNCTION_STEPS: Final = 3
"""Steps of a CSS filter function such as ``blur(3px)``."""

_DEEPEST: Final = 200
"""Maximum levels, including those of ``use`` copies: deeper elements count as too costly."""

_COVERS: Final = ("mask", "clip-path")
_USED: Final = re.compile(r"url\(\s*[\"']?#([^\"')]*)")
_STYLED: Final = re.compile(r"filter\s*:([^;}]*)", re.IGNORECASE)
_COVERED: Final = re.compile(r"(?:mask|clip-path)\s*:([^;}]*)", re.IGNORECASE)
_RULE: Final = re.compile(r"([^{}]*)\{([^{}]*)\}")
_SELECTED: Final = re.compile(r"[.#]?[\w-]+|\*")


def drop_costly_filters(root: Element, pixels: int) -> None:
    """Remove what takes too long to compute in an image of ``pixels``.

    All uses of filters are removed, and if that is not enough, those of masks and clip paths.
    """
    if _Steps(root).of(root) * pixels <= _MOST_WORK:
        return
    _remove(root, ("filter",), _STYLED)
    if _Steps(root).of(root) * pixels > _MOST_WORK:
        _remove(root, _COVERS, _COVERED)


def _remove(root: Element, names: tuple[str, ...], styled: re.Pattern[str]) -> None:
    for element in root.iter():
        for name in names:
            element.attrib.pop(name, None)
        if "style" in element.attrib:
            element.set("style", styled.sub("", element.attrib["style"]))
        if element.tag == "style":
            element.text = styled.sub("", element.text or "")


class _Steps:
    """Counts the steps of filters, masks and clip paths, copies included."""

    def __init__(self, root: Element) -> None:
        self._by_id = {element.get("id", ""): element for element in root.iter()}
        self._filters = {
            element.get("id", ""): sum(map(_steps, element)) for element in root.iter("filter")
        }
        sheets = [element.text or "" for element in root.iter("style")]
        # A style sheet may apply any filter to any element.
        anywhere = any(_STYLED.search(sheet) for sheet in sheets)
        self._least = max(self._filters.values(), default=_FUNCTION_STEPS) if anywhere else 0
        self._covers_of: dict[str, list[str]] = {}  # by selector, such as ".class"
        for sheet in sheets:
            self._add_rules(sheet)
        self._known: dict[tuple[Element, bool], float] = {}

    def of(self, element: Element, depth: int = 0, *, inside: bool = False) -> float:
        """Return the number of steps for drawing an element.

        Args:
            element: the element.
            depth: its level below the first element, including copies.
            inside: whether it is in a mask or a clip path, where further ones count.
        """
        known = self._known.get((element, inside))
        if known is not None:
            return known
        if depth > _DEEPEST:
            return float("inf")
        self._known[element, inside] = 0  # elements that contain themselves are not drawn
        steps = max(self._least, self._own(element))
        for name in self._covers(element):
            cover = self._by_id.get(name)
            if cover is not None:
                steps += inside + self.of(cover, depth + 1, inside=True)
        steps += sum(self.of(child, depth + 1, inside=inside) for child in element)
        copied = self._by_id.get(element.get("href", "").strip().removeprefix("#"))
        if element.tag == "use" and copied is not None:
            steps += self.of(copied, depth + 1, inside=inside)
        self._known[element, inside] = steps
        return steps

    def _add_rules(self, sheet: str) -> None:
        for selectors, body in _RULE.findall(sheet):
            used = _USED.findall(" ".join(_COVERED.findall(body)))
            for selector in _SELECTED.findall(selectors) if used else ():
                self._covers_of.setdefault(selector, []).extend(used)

    def _covers(self, element: Element) -> list[str]:
        """Return the ids of the masks and clip paths applied to an element."""
        used = [element.get(name, "") for name in _COVERS]
        names = _USED.findall(" ".join([*used, *_COVERED.findall(element.get("style", ""))]))
        if self._covers_of:
            classes = (f".{name}" for name in element.get("class", "").split())
            for selector in {*classes, f"#{element.get('id', '')}", element.tag, "*"}:
                names += self._covers_of.get(selector, ())
        return names

    def _own(self, element: Element) -> float:
        used = " ".join([element.get("filter", ""), *_STYLED.findall(element.get("style", ""))])
        named = [self._filters.get(name, 0) for name in _USED.findall(used)]
        return sum(named) + _FUNCTION_STEPS * (used.count("(") - len(named))


def _steps(primitive: Element) -> int:
    """Return how many times a filter primitive computes each pixel."""
    octaves = re.match(r"\s*\+?(\d{1,9})", primitive.get("numOctaves", ""))
    return 1 + (int(octaves[1]) if octaves else 0)
