"""The thumbnail of a map: as many topics as can be read at its size, or a card without an outline.

It shows the canvas of the first sheet that has more than a title, in the colours of its author.
The largest size has room for ten times as many topics as the smallest. What fits is found by trial:
levels, rows and the width of text are reduced one after the other until the smallest letters are
large enough.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import Final, NamedTuple

from mapshelf.formats.outline_codec import decode_outline
from mapshelf.model import Outline, Sheet
from mapshelf.render import card, svg
from mapshelf.render.direction import reads_leftwards
from mapshelf.render.font_fallback import FontFallback, SystemFonts
from mapshelf.render.formulas import Drawings, drawings, formulas_of
from mapshelf.render.layout import Layout, layout
from mapshelf.render.layout_style import Kind, LayoutStyle
from mapshelf.render.png import COLOURS, PHOTO_COLOURS, rasterised
from mapshelf.render.render_request import RenderRequest
from mapshelf.render.sheet_drawing import drawn_sheet
from mapshelf.render.themes import THEMES
from mapshelf.render.visible_topics import Room, sizes, summarised, with_formulas
from mapshelf.render.wrapping import STRETCH
from mapshelf.writers.plain import sound

_ASPECT: Final = 0.75

_SMALLEST: Final = {160: 5.2, 320: 7.1, 640: 8.6, 1280: 10.0}
"""Smallest font size of ordinary topics in pixels, by the width of the picture."""

_COMFORT: Final = 1.6
"""FontFallback so many times larger than the smallest that are allowed need not be larger still."""

_MARGIN: Final = 0.03
"""Around the map, in widths of the picture."""

_LARGEST: Final = 1.35
"""Pixels for each unit of the layout, at most, in a picture of 320 pixels."""

_ORDINARY: Final = 10.3
"""Size of the letters of ordinary topics, in units of the layout."""

_DEEPEST: Final = {160: 2, 320: 3, 640: 5, 1280: 8}
"""Levels below the centre, at most."""

_FEWEST: Final = 4  # rows that are always shown

_STEP: Final = 0.85
"""Rows are reduced to this share at most in one step: a level may fit with fewer rows."""

_ROW: Final = 17.0  # height of a row with one line, with its gap


def thumbnail(request: RenderRequest, fonts: SystemFonts) -> bytes:
    """Return the picture; the same request always gives the same bytes.

    Raises:
        StoreDamaged: the outline cannot be read.
    """
    outline = decode_outline(request.outline) if request.outline else None
    letters = (
        FontFallback(fonts, _sample(outline, request.title)) if request.format == "png" else None
    )
    style = svg.Style(
        THEMES[request.theme],
        letters or svg.any_font,
        pictures=dict(request.pictures),
        pixels=letters is not None,
    )
    text = _map(outline, request, style) if outline else _card(request, style)
    if letters is None:
        return text.encode()
    colours = PHOTO_COLOURS if request.pictures else COLOURS
    return rasterised(text, letters.files, colours=colours)


def shown_pictures(request: RenderRequest) -> list[str]:
    """Return the digests of the pictures in topics that the thumbnail shows.

    Raises:
        StoreDamaged: the outline cannot be read.
    """
    outline = decode_outline(request.outline) if request.outline else None
    if outline is None:
        return []
    _, sheet = _main_sheet(outline)
    placed = _placed(sheet, drawings(formulas_of(sheet.topics())), request)
    shown = (piece.name for node in placed.nodes for piece in node.pieces if piece.kind == "image")
    return list(dict.fromkeys(shown))


def _placed(sheet: Sheet, formulas: Drawings, request: RenderRequest) -> Layout:
    root = sheet.root
    if not sound(root.text).strip() and not (root.images or root.formula):
        sheet = replace(sheet, root=replace(root, text=request.title))
    return _fitting(sheet, formulas, request.width, round(request.width * _ASPECT))


def _map(outline: Outline, request: RenderRequest, style: svg.Style) -> str:
    width, height = request.width, round(request.width * _ASPECT)
    at, sheet = _main_sheet(outline)
    formulas = drawings(formulas_of(sheet.topics()))
    style = replace(style, formulas=formulas)
    placed = _placed(sheet, formulas, request)
    made = drawn_sheet(sheet, placed, style, lambda whole: _frame(whole, width, height))
    content = made.content
    if len(outline.sheets) > 1:
        content.append(_dots(at, len(outline.sheets), made.frame, style))
    return svg.document(request.title, made.frame, made.theme, content)


def _card(request: RenderRequest, style: svg.Style) -> str:
    height = round(request.width * _ASPECT)
    frame = svg.Frame(request.width, height, 0, 0, 1)
    content = card.drawn(request.title, (request.owner, request.category), frame, style)
    return svg.document(request.title, frame, style.theme, content)


def _main_sheet(outline: Outline) -> tuple[int, Sheet]:
    """Return the first sheet that has more than a title, with its number."""
    sheets = enumerate(outline.sheets)
    return next(
        ((at, sheet) for at, sheet in sheets if sheet.root.children or sheet.floating),
        (0, outline.sheets[0]),
    )


class Bounds(NamedTuple):
    """The room for a map in a picture, in pixels. The methods return pixels for each unit."""

    width: float
    height: float

    def across(self, placed: Layout) -> float:
        """Return how many pixels a unit may have for the layout to be narrow enough."""
        return self.width / placed.width

    def down(self, placed: Layout) -> float:
        """Return how many pixels a unit may have for the layout to be low enough."""
        return self.height / placed.height

    def scale(self, placed: Layout) -> float:
        """Return how many pixels a unit may have."""
        return min(self.across(placed), self.down(placed))


def _fitting(sheet: Sheet, formulas: Drawings, width: int, height: int) -> Layout:
    """Return the layout with the most topics whose letters are large enough."""
    size = sizes(sheet)
    leftwards = reads_leftwards(sheet.root)
    bounds = Bounds(width * (1 - 2 * _MARGIN), height - 2 * _MARGIN * width)
    smallest = _SMALLEST[width] / _ORDINARY
    most = max(_FEWEST, int(2 * bounds.height / smallest / _ROW))
    rows, depth = most, _DEEPEST[width]
    while True:
        shown = with_formulas(summarised(sheet, size, Room(rows, depth)), formulas)
        tried = [
            layout(shown, layout_style, right_to_left=leftwards) for layout_style in _STYLES[width]
        ]
        narrow = [placed for placed in tried if bounds.across(placed) >= smallest]
        if not narrow and depth > 1:
            rows, depth = most, min(depth, _depth(tried[0])) - 1
            continue
        if not narrow:
            tried.append(layout(shown, _NARROWEST, right_to_left=leftwards))
        lowest = max(map(bounds.down, narrow or tried))
        if lowest >= smallest or rows == _FEWEST:
            return _best(tried, bounds, _COMFORT * smallest)
        rows = max(_FEWEST, min(rows - 1, int(rows * max(_STEP, lowest / smallest))))


def _best(tried: Sequence[Layout], bounds: Bounds, comfort: float) -> Layout:
    """Return the layout with the longest lines of which the letters have a comfortable size.

    If there is none, the one with the largest letters.
    """
    comfortable = (placed for placed in tried if bounds.scale(placed) >= comfort)
    return next(comfortable, max(tried, key=bounds.scale))


def _depth(placed: Layout) -> int:
    return max(node.depth for node in placed.nodes)


def _layout_style(
    width: float, lines: int, *, counted: bool, stretch: float = STRETCH
) -> LayoutStyle:
    """Return how topics look whose ordinary lines are so many font sizes wide."""
    main = max(5.3, 0.85 * width)
    return LayoutStyle(
        picture=(6 * width, 4.5 * width),
        formula=(1.5 * width, 8),
        detailed=counted,
        stray=(0.1, 40),
        kinds=(
            Kind(13.5, True, max(6.5, 0.7 * width), 4, 8, 5, 0, 0, True, True, stretch),
            Kind(11.3, True, main, lines, 5.5, 2.5, 15, 7, True, True, stretch),
            Kind(_ORDINARY, False, width, lines, 1.5, 1, 9, 2.6, False, counted, stretch),
        ),
    )


def _frame(placed: Layout, width: int, height: int) -> svg.Frame:
    """Return the picture with the layout in its middle, as large as it may be."""
    margin = _MARGIN * width
    scale = min(
        (width - 2 * margin) / placed.width,
        (height - 2 * margin) / placed.height,
        _LARGEST * width / 320,
    )
    return svg.Frame(
        width,
        height,
        width / 2 - scale * (placed.box.left + placed.box.right) / 2,
        height / 2 - scale * (placed.box.top + placed.box.bottom) / 2,
        scale,
    )


def _dots(at: int, count: int, frame: svg.Frame, style: svg.Style) -> str:
    """Return a dot for each sheet of the file, the one that is shown filled."""
    most = 9
    radius = frame.width / 160
    x = frame.width - 2 * radius - 3.2 * radius * (min(count, most) - 1)
    y = frame.height - 2 * radius
    return "".join(
        f'<circle cx="{svg.number(x + 3.2 * radius * place)}" cy="{svg.number(y)}"'
        f' r="{svg.number(radius)}" fill="{style.theme.quiet}"'
        f' fill-opacity="{1 if place == min(at, most - 1) else 0.35}"/>\n'
        for place in range(min(count, most))
    )


def _sample(outline: Outline | None, title: str) -> str:
    """Return enough of a map's text to tell which languages it is in."""
    if outline is None:
        return title
    topics = islice(outline.topics(), 300)
    return "".join(topic.text[:80] for _, topic in topics)


_STYLES: Final = {
    width: tuple(_layout_style(text, lines, counted=width > 320) for text, lines in looks)
    for width, looks in {
        160: ((14.0, 4), (11.0, 2), (7.0, 2)),
        320: ((18.0, 5), (14.0, 2), (10.0, 2), (7.5, 2), (7.5, 3), (5.5, 3)),
        640: ((20.0, 5), (16.0, 2), (11.0, 2), (8.0, 2), (6.5, 3)),
        1280: ((24.0, 6), (20.0, 2), (13.0, 3), (9.0, 3)),
    }.items()
}
"""What is tried, by the width of the picture: long lines first, for they are easier to read."""

_NARROWEST: Final = _layout_style(8.0, 4, counted=True, stretch=1.0)
"""For main branches of which even the words are too long: they are broken."""
