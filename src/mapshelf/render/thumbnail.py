"""Draw thumbnails: as many topics as are legible at the size, or a card if there is no outline.

A thumbnail shows the first sheet that has more than a title, in the author's colours. The largest
size has room for ten times as many topics as the smallest. What fits is found by trial: lines of
several widths are tried, and levels and rows are reduced until the smallest text is large enough.
"""

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
"""Minimum font size of ordinary topics in pixels, by the width of the picture."""

_COMFORT: Final = 1.6
"""Text this many times larger than the minimum is comfortable: it need not be larger still."""

_MARGIN: Final = 0.03
"""Margin around the map, as a share of the width of the picture."""

_LARGEST: Final = 1.35
"""Maximum pixels per layout unit in a picture 320 pixels wide; in proportion for other widths."""

_ORDINARY: Final = 10.3
"""Font size of ordinary topics, in layout units."""

_DEEPEST: Final = {160: 2, 320: 3, 640: 5, 1280: 8}
"""Maximum levels below the central topic, by the width of the picture."""

_FEWEST: Final = 4  # minimum rows

_STEP: Final = 0.85
"""Rows are reduced by no more than this factor in one step: a small reduction may be enough."""

_ROW: Final = 17.0  # height of a row with one line of text, including the gap, in layout units


def thumbnail(request: RenderRequest, fonts: SystemFonts) -> bytes:
    """Return the thumbnail; the same request always gives the same bytes.

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
    """Return the digests of the images in topics that the thumbnail shows.

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
    """Return the index and content of the first sheet that has more than a title.

    If there is none, these are of the first sheet.
    """
    sheets = enumerate(outline.sheets)
    return next(
        ((at, sheet) for at, sheet in sheets if sheet.root.children or sheet.floating),
        (0, outline.sheets[0]),
    )


class Bounds(NamedTuple):
    """The space for a map in a picture, in pixels.

    The methods return the largest scale at which a layout fits, in pixels per layout unit.
    """

    width: float
    height: float

    def across(self, placed: Layout) -> float:
        """Return the largest scale at which the layout fits the width."""
        return self.width / placed.width

    def down(self, placed: Layout) -> float:
        """Return the largest scale at which the layout fits the height."""
        return self.height / placed.height

    def scale(self, placed: Layout) -> float:
        """Return the largest scale at which the layout fits the width and the height."""
        return min(self.across(placed), self.down(placed))


def _fitting(sheet: Sheet, formulas: Drawings, width: int, height: int) -> Layout:
    """Return the layout with the most topics whose text is large enough.

    Of the layouts with these topics, it is the first with comfortable text, which has the longest
    lines. If there is none, it is the layout with the largest text.
    """
    size = sizes(sheet)
    leftwards = reads_leftwards(sheet.root)
    bounds = Bounds(width * (1 - 2 * _MARGIN), height - 2 * _MARGIN * width)
    smallest = _SMALLEST[width] / _ORDINARY
    most = max(_FEWEST, int(2 * bounds.height / smallest / _ROW))
    rows, depth = most, _DEEPEST[width]
    while True:
        shown = with_formulas(summarised(sheet, size, Room(rows, depth)), formulas)
        tried: list[Layout] = []
        for layout_style in _STYLES[width]:
            tried.append(layout(shown, layout_style, right_to_left=leftwards))
            if bounds.scale(tried[-1]) >= _COMFORT * smallest:
                return tried[-1]
        narrow = [placed for placed in tried if bounds.across(placed) >= smallest]
        if not narrow and depth > 1:
            rows, depth = most, min(depth, _depth(tried[0])) - 1
            continue
        if not narrow:
            tried.append(layout(shown, _NARROWEST, right_to_left=leftwards))
        lowest = max(map(bounds.down, narrow or tried))
        if lowest >= smallest or rows == _FEWEST:
            return max(tried, key=bounds.scale)
        rows = max(_FEWEST, min(rows - 1, int(rows * max(_STEP, lowest / smallest))))


def _depth(placed: Layout) -> int:
    return max(node.depth for node in placed.nodes)


def _layout_style(
    width: float, lines: int, *, counted: bool, stretch: float = STRETCH
) -> LayoutStyle:
    """Return the style for a width of lines.

    Args:
        width: the maximum width of a line in an ordinary topic, in font sizes.
        lines: the maximum lines of a topic, except the central one.
        counted: whether ordinary topics show the number of hidden descendants, and all topics their
            tags and marks.
        stretch: the factor by which a long word may widen lines.
    """
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
    """Return the frame of the picture, with the layout centred at the largest allowed scale."""
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
    """Return a row of dots, one per sheet (at most nine); the dot of the shown sheet is solid."""
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
    """Return enough text of a map to detect its languages."""
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
"""The styles that are tried, by the width of the picture.

Long lines come first, because they are easier to read.
"""

_NARROWEST: Final = _layout_style(8.0, 4, counted=True, stretch=1.0)
"""The style if the main branches alone are too wide because of long words, which it breaks."""
