"""Draw a whole sheet of a map, or one of its branches, with every topic and nothing folded.

Thumbnails show as much as fits (``thumbnail``); this drawing is as large as the map needs. It looks
like the page of the map, in the author's colours, but no topic is cut after a number of lines.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import islice
from typing import Final

from mapshelf.errors import BrokenFile, NotFound
from mapshelf.model import Outline, Sheet
from mapshelf.render import svg
from mapshelf.render.direction import reads_leftwards
from mapshelf.render.font_fallback import FontFallback, system_fonts
from mapshelf.render.formulas import drawings, formulas_of
from mapshelf.render.layout import Layout, layout
from mapshelf.render.layout_style import PAGE
from mapshelf.render.render_request import DrawingRequest
from mapshelf.render.sheet_drawing import drawn_sheet
from mapshelf.render.themes import THEMES
from mapshelf.render.visible_topics import whole, with_formulas

PIXELS: Final = 2.0
"""Maximum pixels of a PNG per layout unit, so that text is sharp on paper, too."""

MOST_PIXELS: Final = 16_000_000
LONGEST_SIDE: Final = 16_000
"""Maximum area and longer side of a PNG, in pixels: a larger map is drawn at a smaller scale."""

LEAST_SCALE: Final = 0.05
"""Minimum pixels of a PNG per layout unit: with fewer, it would show nothing but a stripe."""

MOST_CONVERTED: Final = 8_000_000
"""Maximum characters of an SVG, without its images, that is converted to PNG or PDF: some 40,000
topics. The conversion takes 80 bytes of memory per character, and the process may use 1 GiB
(``api.documents``)."""

_LOOK: Final = replace(PAGE, kinds=tuple(kind._replace(lines=10_000) for kind in PAGE.kinds))
"""The style of the page of a map, but with no practical limit on the lines of a topic."""

_PICTURE: Final = re.compile(r'href="data:[^"]*"')
_TOO_LARGE: Final = "This map is too large to be drawn as {}; the SVG has all of it."
_MARGIN: Final = 24.0
_SAMPLE: Final = 300  # topics from which the languages of a map are detected


def map_drawing(outline: Outline, request: DrawingRequest, pictures: Mapping[str, bytes]) -> bytes:
    """Return the drawing of a map.

    Args:
        outline: the map.
        request: what to draw.
        pictures: the available images in topics as PNG, by digest; frames replace the others.

    Raises:
        NotFound: the sheet or topic does not exist, or it cannot be drawn in this format.
    """
    sheet = _asked(outline, request)
    root = sheet.root
    if not (_is_seen(root.text) or root.images or root.formula):
        sheet = replace(sheet, root=replace(root, text=request.title))
    formulas = drawings(formulas_of(sheet.topics()))
    fonts = None if request.format == "svg" else FontFallback(system_fonts(), _sample(sheet))
    pixels = request.format == "png"
    style = svg.Style(
        THEMES[request.theme],
        fonts or svg.any_font,
        pictures=pictures,
        formulas=formulas,
        pixels=pixels,
    )
    shown = with_formulas(whole(sheet), formulas)
    placed = layout(shown, _LOOK, right_to_left=reads_leftwards(sheet.root))
    drawn = drawn_sheet(sheet, placed, style, _scaled_frame if pixels else whole_frame)
    title = request.title
    text = svg.document(title, drawn.frame, drawn.theme, drawn.content)
    if fonts is None:
        return text.encode()
    if _without_pictures(text) > MOST_CONVERTED:
        raise NotFound(_TOO_LARGE.format(request.format.upper()))
    if pixels:
        from mapshelf.render.png import rasterised  # noqa: PLC0415

        # A palette would halve the file, but take a third of the time, and few files are fetched.
        return rasterised(text, fonts.files, colours=None)
    from mapshelf.render.pdf import as_pdf  # noqa: PLC0415

    try:
        return as_pdf(text, title, (drawn.frame.width, drawn.frame.height), fonts.files)
    except BrokenFile as error:
        raise NotFound("This map cannot be drawn as PDF; the SVG has all of it.") from error


def _without_pictures(text: str) -> int:
    """Return the number of characters of an SVG, without the images in it."""
    return len(text) - sum(found.end() - found.start() for found in _PICTURE.finditer(text))


def _is_seen(text: str) -> bool:
    return any(char.isprintable() for char in text.strip())


def _asked(outline: Outline, request: DrawingRequest) -> Sheet:
    if request.sheet > len(outline.sheets):
        raise NotFound("This map has no such sheet.")
    sheets = outline.sheets[request.sheet - 1 :][:1] if request.sheet else outline.sheets
    if not request.topic:
        return sheets[0]
    for sheet in sheets:
        branch = _branch(sheet, request.topic)
        if branch:
            return branch
    raise NotFound("This map has no such topic.")


def _branch(sheet: Sheet, topic_id: str) -> Sheet | None:
    """Return a copy of a sheet with one branch, whose root is the central topic.

    It is the sheet itself for its central topic, and ``None`` if it has no such topic.
    """
    topics = (topic for tree in sheet.trees() for _, topic in tree.walk())
    root = next((topic for topic in topics if topic.id == topic_id), None)
    if root is None or root is sheet.root:
        return sheet if root else None
    inside = {topic.id for _, topic in root.walk()}
    # All children are on one side, as in the whole map, so no boundary or summary is split.
    side = "left" if reads_leftwards(sheet.root) else "right"
    children = [replace(child, side=side) for child in root.children]
    return replace(
        sheet,
        root=replace(root, children=children, position=None),
        clockwise=False,
        floating=(),
        relationships=tuple(one for one in sheet.relationships if inside.issuperset(one[:2])),
        boundaries=tuple(one for one in sheet.boundaries if inside.issuperset(one.topics)),
        summaries=tuple(one for one in sheet.summaries if inside.issuperset(one.topics)),
    )


def whole_frame(placed: Layout) -> svg.Frame:
    """Return the frame around a layout, at one pixel per layout unit."""
    box = placed.box
    return svg.Frame(
        placed.width + 2 * _MARGIN,
        placed.height + 2 * _MARGIN,
        _MARGIN - box.left,
        _MARGIN - box.top,
        1.0,
    )


def _scaled_frame(placed: Layout) -> svg.Frame:
    """Return the frame around a layout, at the largest scale that is allowed for a PNG.

    Raises:
        NotFound: the scale would be below ``LEAST_SCALE``.
    """
    frame = whole_frame(placed)
    scale = min(
        PIXELS,
        (MOST_PIXELS / (frame.width * frame.height)) ** 0.5,
        LONGEST_SIDE / max(frame.width, frame.height),
    )
    if scale < LEAST_SCALE:
        raise NotFound(_TOO_LARGE.format("PNG"))
    return svg.Frame(
        max(1, round(frame.width * scale)),
        max(1, round(frame.height * scale)),
        frame.x * scale,
        frame.y * scale,
        scale,
    )


def _sample(sheet: Sheet) -> str:
    """Return enough text of a sheet to detect its languages."""
    topics = islice(sheet.root.walk(), _SAMPLE)
    return "".join(topic.text[:80] for _, topic in topics)
