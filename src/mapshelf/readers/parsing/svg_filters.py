"""The filters, masks and clip paths of SVG pictures: their costs, and pictures without costly ones.

A filter computes each pixel of what it is used on, once for each of its steps. A mask or a clip
path is drawn again wherever it is used, also within others. A file of a few hundred bytes can ask
for hours of that. Clip paths that are not within others are not counted: drawing programs use
hundreds of small ones. What is estimated here is an upper bound, as if everything
were as large as the picture; so the limit is generous, and the limits of the child that draws
(``render.image_worker``) end what is below it and slow all the same.
"""

import re
from typing import Final
from xml.etree.ElementTree import Element

_MOST_WORK: Final = 500_000_000
"""Pixels that filters may compute: drawing programs give a hundred shapes a shadow."""

_FUNCTION_STEPS: Final = 3
"""Of a filter that is a function in CSS, such as ``blur(3px)``."""

_DEEPEST: Final = 200
"""Levels, those of what ``use`` copies included: deeper ones are counted as too much."""

_COVERS: Final = ("mask", "clip-path")
_USED: Final = re.compile(r"url\(\s*[\"']?#([^\"')]*)")
_STYLED: Final = re.compile(r"filter\s*:([^;}]*)", re.IGNORECASE)
_COVERED: Final = re.compile(r"(?:mask|clip-path)\s*:([^;}]*)", re.IGNORECASE)
_RULE: Final = re.compile(r"([^{}]*)\{([^{}]*)\}")
_SELECTED: Final = re.compile(r"[.#]?[\w-]+|\*")


def drop_costly_filters(root: Element, pixels: int) -> None:
    """Remove what takes too long to compute in a picture of ``pixels``.

    These are all uses of filters, and if that is not enough, those of masks and clip paths.
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
        # A style sheet may use any filter on anything.
        anywhere = any(_STYLED.search(sheet) for sheet in sheets)
        self._least = max(self._filters.values(), default=_FUNCTION_STEPS) if anywhere else 0
        self._covers_of: dict[str, list[str]] = {}  # by a selector, such as ".class"
        for sheet in sheets:
            self._add_rules(sheet)
        self._known: dict[tuple[Element, bool], float] = {}

    def of(self, element: Element, depth: int = 0, *, inside: bool = False) -> float:
        """Return how many steps drawing an element takes.

        Args:
            element: the element.
            depth: how many levels it is below the first one, copies included.
            inside: whether it is in a mask or a clip path, where further ones count.
        """
        known = self._known.get((element, inside))
        if known is not None:
            return known
        if depth > _DEEPEST:
            return float("inf")
        self._known[element, inside] = 0  # what contains itself is not drawn
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
        """Return the ids of the masks and clip paths that are used on an element."""
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
    """Return how often a primitive of a filter computes each pixel."""
    octaves = re.match(r"\s*\+?(\d{1,9})", primitive.get("numOctaves", ""))
    return 1 + (int(octaves[1]) if octaves else 0)
