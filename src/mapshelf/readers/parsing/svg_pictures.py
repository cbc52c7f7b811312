"""Measure and sanitise SVG images in topics.

SVG allows scripts, external files and nested copies (``use``) that multiply. Scripts, animations,
foreign content and external ``href``s are removed here, and ``svg_filters`` removes costly filters.
``render.image_worker`` draws the image in a sandboxed child process, which limits costs that
counting elements cannot.
"""

import re
from base64 import b64decode
from collections.abc import Callable
from dataclasses import replace
from typing import Final
from urllib.parse import unquote_to_bytes
from xml.etree.ElementTree import Element, tostring

from mapshelf.errors import BrokenFile, UnreadableFile
from mapshelf.readers.parsing.decoding import decode
from mapshelf.readers.parsing.limits import KIB, Limits
from mapshelf.readers.parsing.svg_filters import drop_costly_filters
from mapshelf.readers.parsing.xml_files import parse_xml, root_tag

Measure = Callable[[bytes, Limits], tuple[int, int]]
"""Returns the width and height of a raster image; see ``pictures.measure``."""

_HEAD: Final = 64 * KIB
"""The root element must begin within this number of bytes."""

_BLANK: Final = b"\xef\xbb\xbf\xff\xfe\0 \t\r\n"
"""Bytes allowed before the first character of an SVG, in any encoding."""

_MOST_LEVELS: Final = 50
_MOST_ELEMENTS: Final = 50_000
"""Maximum levels, as ``Limits.depth`` (four nested elements each), and maximum elements; large
drawings have some thousand elements."""

_UNITS: Final = {
    "": 1.0,
    "px": 1.0,
    "pt": 4 / 3,
    "pc": 16.0,
    "mm": 96 / 25.4,
    "cm": 96 / 2.54,
    "in": 96.0,
    "em": 16.0,
    "rem": 16.0,
    "ex": 8.0,
}
"""Pixels per unit of length."""

_LENGTH: Final = re.compile(r"\s*\+?(\d{1,9}(?:\.\d{0,9})?|\.\d{1,9})\s*([a-z]{0,3})\s*")
_NUMBER: Final = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,2})?")
_DATA: Final = re.compile(r"\s*data:image/(?:png|jpe?g|gif|webp)(;base64)?,", re.IGNORECASE)

_DEFAULT: Final = (300.0, 150.0)
"""Default width and height of an SVG, as in browsers."""

_HARMFUL: Final = frozenset(
    {"script", "foreignObject", "handler", "listener", "animate", "set", "iframe"}
    | {"animateMotion", "animateTransform", "animateColor", "discard", "audio", "video"}
)

_NAMESPACE: Final = "http://www.w3.org/2000/svg"


def is_svg(data: bytes) -> bool:
    """Return whether ``data`` begins like an SVG."""
    begins = data[:200].lstrip(_BLANK).startswith(b"<")  # no other image format begins like this
    return begins and root_tag(decode(data[:_HEAD]))[0] == "svg"


def svg_size(data: bytes, limits: Limits) -> tuple[int, int]:
    """Return the width and height of an SVG in pixels, at least 1.

    Raises:
        BrokenFile: it is damaged, or has a DOCTYPE that declares something.
        TooLarge: it has too many elements or levels.
    """
    width, height = _size(_parsed(data, limits))
    return max(1, round(width)), max(1, round(height))


def safe_svg(data: bytes, limits: Limits, size: tuple[int, int], measure: Measure) -> str:
    """Return an SVG of ``size`` in pixels, without scripts and external references.

    It has no ``href``s except to its own elements and to raster images in data URLs.

    Raises:
        UnreadableFile: as ``svg_size``.
    """
    root = _parsed(data, limits)
    width, height = _size(root)
    if not _box(root):
        root.set("viewBox", f"0 0 {width:g} {height:g}")
    drop_costly_filters(root, size[0] * size[1])
    root.set("width", str(size[0]))
    root.set("height", str(size[1]))
    _clean(root, limits, measure)
    root.set("xmlns", _NAMESPACE)
    return tostring(root, "unicode")


def _parsed(data: bytes, limits: Limits) -> Element:
    bounds = replace(limits, depth=_MOST_LEVELS, topics=_MOST_ELEMENTS // 10)
    root = parse_xml(decode(data), bounds, doctype="svg")
    if root.tag != "svg":
        raise BrokenFile("the picture is no SVG")
    return root


def _size(root: Element) -> tuple[float, float]:
    """Return the width and height of the root element; its view box supplies missing ones."""
    box = _box(root)
    width, height = _length(root.get("width", "")), _length(root.get("height", ""))
    if not box:
        return width or _DEFAULT[0], height or _DEFAULT[1]
    if not width and not height:
        return box
    return width or height * box[0] / box[1], height or width * box[1] / box[0]


def _box(root: Element) -> tuple[float, float] | None:
    numbers = _NUMBER.findall(root.get("viewBox", "")[:200])
    width, height = map(float, numbers[2:]) if len(numbers) == 4 else (0.0, 0.0)
    # Beyond these bounds, quotients are not meaningful sizes.
    return (width, height) if 1e-6 < width < 1e9 and 1e-6 < height < 1e9 else None


def _length(text: str) -> float:
    found = _LENGTH.fullmatch(text.lower())
    return float(found[1]) * _UNITS.get(found[2], 0.0) if found else 0.0


def _clean(root: Element, limits: Limits, measure: Measure) -> None:
    """Remove harmful elements and attributes, and ``href``s to anything outside the SVG.

    Raster images in data URLs are kept, up to ``limits.pixels`` pixels in total.
    """
    room = limits.pixels
    for element in list(root.iter()):
        for child in [child for child in element if child.tag in _HARMFUL]:
            element.remove(child)
        for name in [name for name in element.attrib if _is_harmful(name)]:
            del element.attrib[name]
        target = element.get("href")
        if target is not None and not target.lstrip().startswith("#"):
            pixels = _pixels(target, limits, measure) if element.tag == "image" else 0
            if not 0 < pixels <= room:
                del element.attrib["href"]
            room -= pixels


def _is_harmful(name: str) -> bool:
    return name.startswith("on") or name in ("xmlns", "base", "src")


def _pixels(target: str, limits: Limits, measure: Measure) -> int:
    """Return the number of pixels of the image in a data URL, 0 if it may not be drawn."""
    found = _DATA.match(target)
    if found is None:
        return 0
    try:
        plain = unquote_to_bytes(target[found.end() :])
        width, height = measure(b64decode(plain) if found[1] else plain, limits)
    except (UnreadableFile, ValueError):
        return 0
    return width * height
