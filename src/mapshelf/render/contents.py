"""Lay out the content of a topic's box: text, icons, marks, images, details, attributes and more.

Icons precede the text; marks for notes, links and files follow it. Images are above or below it;
details, attributes (as a table) and tags are below. A formula is below the text, or replaces it if
there is none. In right-to-left maps everything is mirrored. Topics with only text, which are the
majority, skip most of this.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from mapshelf.model import Image, Topic
from mapshelf.render.fonts import font
from mapshelf.render.formula_drawing import FormulaDrawing
from mapshelf.render.glyphs import emoji_text, markers_of, said
from mapshelf.render.layout_style import LINE_HEIGHT, Kind, LayoutStyle
from mapshelf.render.visible_topics import VisibleTopic
from mapshelf.render.wrapping import Line, wrapped
from mapshelf.writers.plain import one_line, sound

_GLYPH: Final = 1.2
_MARK: Final = 0.95
_TAG: Final = 0.78
_DETAIL: Final = 0.85
"""Heights of icons, marks and the letters of tags and attributes, and of details, in font sizes."""

CELL_HEIGHT: Final = 1.5
"""Height of a row of attributes, in font sizes of its letters."""

CELL_PADDING: Final = 4.0
"""Space to the left and right of the text of an attribute."""

FORMULA: Final = 1.12
"""Font size of formulas, in font sizes of the text: the letters of their font are smaller."""

_APART: Final = 0.22
"""Space between icons, in font sizes."""

_MOST_GLYPHS: Final = 12
_MOST_TAGS: Final = 8
_MOST_IMAGES: Final = 4
"""Maximum icons, tags and images drawn in a topic. The text of the page lists all of them."""

MOST_ROWS: Final = 12
"""Maximum attributes drawn in a topic. The text of the page lists all of them."""

_TAG_WIDTH: Final = 16.0  # of the longest, in font sizes
_NAME_WIDTH: Final = 14.0
_VALUE_WIDTH: Final = 22.0
_DETAIL_WIDTH: Final = 26.0  # of the longest name, value and line of details, likewise
_DETAIL_LINES: Final = 20
_TAG_PADDING: Final = 5.0
_BETWEEN: Final = 4.0  # pictures, text and tags
_UNKNOWN: Final = (0.6, 0.6)  # of the maximum size, for images of unknown size
_LARGEST: Final = 1e5  # of any picture
_LONGEST: Final = 300  # characters of a description


class Piece(NamedTuple):
    """An element in the box of a topic.

    Attributes:
        kind: ``glyph``, ``emoji``, ``mark``, ``subtext`` (a line of details), ``cell`` (of the
            table of attributes), ``tag``, ``image`` or ``formula``.
        name: name of a marker or mark, digest of an image, LaTeX of a formula; otherwise the
            displayed text.
        x: left edge, relative to the box.
        y: top edge, relative to the box.
        width: its width.
        height: its height.
        says: its description in words.
    """

    kind: str
    name: str
    x: float
    y: float
    width: float
    height: float
    says: str = ""


class Contents(NamedTuple):
    """The content of a topic's box.

    Attributes:
        width: width of the box.
        height: height of the box.
        text_left: left edge of the text in it.
        text_top: top edge of the text in it.
        pieces: everything except text.
    """

    width: float
    height: float
    text_left: float
    text_top: float
    pieces: tuple[Piece, ...] = ()


class _Block(NamedTuple):
    """Rows of pieces below the text.

    Attributes:
        rows: the pieces of each row, which have the same height; at least one row.
        between: the space between rows, and between the pieces of a row.
    """

    rows: Sequence[Sequence[Piece]]
    between: float = _BETWEEN

    @property
    def width(self) -> float:
        """Width of the longest row."""
        return max(_row_width(row, self.between) for row in self.rows)

    def placed(self, kind: Kind, inner: float, y: float) -> Iterator[Piece]:
        """Yield the pieces, in a box that is ``inner`` wide inside its padding, from ``y`` on."""
        for row in self.rows:
            x = kind.across + ((inner - _row_width(row, self.between)) / 2 if kind.boxed else 0)
            for piece in row:
                yield piece._replace(x=x, y=y)
                x += piece.width + self.between
            y += row[0].height + self.between


def only_text(kind: Kind, lines: Sequence[Line], text_width: float) -> Contents:
    """Return the contents of a topic with only text."""
    height = kind.size * LINE_HEIGHT * len(lines) + 2 * kind.down
    return Contents(text_width + 2 * kind.across, height, kind.across, kind.down)


def has_more(topic: Topic) -> bool:
    """Return whether a topic may have content other than text."""
    return bool(
        topic.markers
        or topic.task
        or topic.tags
        or topic.images
        or topic.note
        or topic.links
        or topic.attachments
        or topic.formula
        or topic.details
        or topic.shown_attributes
    )


def furnished(
    shown: VisibleTopic,
    kind: Kind,
    layout_style: LayoutStyle,
    lines: Sequence[Line],
    *,
    right_to_left: bool,
) -> Contents | None:
    """Return the contents of a topic's box, ``None`` if it is only text.

    Args:
        shown: the topic.
        kind: its appearance.
        layout_style: the style of the drawing.
        lines: its text.
        right_to_left: whether the map is mirrored.
    """
    topic = shown.source
    assert topic is not None
    text_width = kind.size * max((line.width for line in lines), default=0.0)
    text_height = kind.size * LINE_HEIGHT * len(lines)
    glyphs = list(_glyphs(topic, kind.size))
    marks = list(_marks(topic, kind.size)) if layout_style.detailed else []
    tags = list(_tags(topic, kind.size)) if layout_style.detailed else []
    seen = [image for image in topic.images[:_MOST_IMAGES] if image.digest]
    images = [_image(image, layout_style.picture) for image in seen if not image.below]
    lower = [_image(image, layout_style.picture) for image in seen if image.below]
    formulas = [_formula(topic.formula, shown.formula, kind, layout_style)] if shown.formula else []
    below = _details_and_attributes(shown, kind.size) if layout_style.detailed else []
    if not (glyphs or marks or tags or seen or formulas or below):
        return None
    # A formula without text takes the position of the text.
    instead = formulas.pop() if formulas and not lines else None
    core_width, core_height = instead[4:6] if instead else (text_width, text_height)
    # In a box, icons may have discs behind them, which need more space.
    step = (_APART + 0.14 * kind.boxed) * kind.size
    before = sum(piece.width + step for piece in glyphs) - (0 if core_width or marks else step)
    after = sum(piece.width + step for piece in marks) - (0 if core_width else step)
    row = max(0.0, before) + core_width + max(0.0, after)
    row_height = max([core_height, *(piece.height for piece in (*glyphs, *marks))])
    below += [_Block([[one]]) for one in (*formulas, *lower)]
    wide = [row, *(piece.width for piece in images), *(block.width for block in below)]
    if tags:
        below.append(_Block(_rows(tags, max(14 * kind.size, *wide))))
        wide.append(below[-1].width)
    inner = max(wide)

    pieces: list[Piece] = []
    y = kind.down
    for image in images:
        pieces.append(image._replace(x=kind.across + (inner - image.width) / 2, y=y))
        y += image.height + _BETWEEN
    x = kind.across + (inner - row) / 2 if kind.boxed else kind.across
    line = min(row_height, kind.size * LINE_HEIGHT) if text_width else row_height
    text_top = y + (row_height - core_height) / 2
    for piece in glyphs:
        pieces.append(piece._replace(x=x, y=max(y, text_top + (line - piece.height) / 2)))
        x += piece.width + step
    text_left = x
    if instead:
        pieces.append(instead._replace(x=x, y=text_top))
    x += core_width + (step if core_width else 0)
    for piece in marks:
        top = y + row_height - line + (line - piece.height) / 2
        pieces.append(piece._replace(x=x, y=max(y, top)))
        x += piece.width + step
    if row_height:
        y += row_height + _BETWEEN
    for block in below:
        pieces += block.placed(kind, inner, y)
        y = pieces[-1].y + pieces[-1].height + _BETWEEN
    made = Contents(
        inner + 2 * kind.across, y - _BETWEEN + kind.down, text_left, text_top, tuple(pieces)
    )
    return _mirrored(made, text_width) if right_to_left else made


def _glyphs(topic: Topic, size: float) -> Iterable[Piece]:
    high = _GLYPH * size
    for marker in markers_of(topic)[:_MOST_GLYPHS]:
        if marker.name.startswith("emoji-"):
            text = emoji_text(marker.name)
            if text.strip():
                wide = max(high, font(bold=False).width(text) * size)
                yield Piece("emoji", text, 0, 0, wide, high, text)
        else:
            yield Piece("glyph", marker.name, 0, 0, high, high, one_line(said(marker)[:_LONGEST]))


def _marks(topic: Topic, size: float) -> Iterable[Piece]:
    has = {
        "picture": any(not image.digest for image in topic.images),
        "note": topic.note.strip() != topic.details.strip(),  # details are drawn
        "link": bool(topic.links),
        "attachment": bool(topic.attachments),
    }
    for name, there in has.items():
        if there:
            yield Piece("mark", name, 0, 0, _MARK * size, _MARK * size, name)


def _tags(topic: Topic, size: float) -> Iterable[Piece]:
    letters = _TAG * size
    for tag in topic.tags[:_MOST_TAGS]:
        for line in wrapped(one_line(tag[:_LONGEST]), font(bold=False), _TAG_WIDTH, 1, 1.0):
            width = line.width * letters + 2 * _TAG_PADDING
            yield Piece("tag", line.text, 0, 0, width, letters * 1.45, one_line(tag[:_LONGEST]))


def _details_and_attributes(shown: VisibleTopic, size: float) -> list[_Block]:
    """Return the details and attributes that the author's program shows."""
    topic = shown.source
    assert topic is not None
    details = [[line] for line in _details(topic, size)]
    table = _table(topic, size) if shown.tabled else []
    return [_Block(rows, 0) for rows in (details, table) if rows]


def _details(topic: Topic, size: float) -> Iterable[Piece]:
    letters = _DETAIL * size
    face = font(bold=False)
    for line in wrapped(sound(topic.details), face, _DETAIL_WIDTH, _DETAIL_LINES, 1.0):
        yield Piece("subtext", line.text, 0, 0, line.width * letters, letters * LINE_HEIGHT)


def _table(topic: Topic, size: float) -> list[list[Piece]]:
    """Return attributes as rows of two cells."""
    if not topic.shown_attributes:
        return []
    names = set(topic.shown_attributes)
    shown = [pair for pair in topic.attributes if pair[0] in names][:MOST_ROWS]
    rows = [
        (_cell(name, size, _NAME_WIDTH), _cell(value, size, _VALUE_WIDTH)) for name, value in shown
    ]
    wide = [max(cell.width for cell in column) for column in zip(*rows, strict=True)]
    return [
        [cell._replace(width=width) for cell, width in zip(row, wide, strict=True)] for row in rows
    ]


def _cell(text: str, size: float, widest: float) -> Piece:
    letters = _TAG * size
    whole = one_line(text[:_LONGEST])
    line = next(iter(wrapped(whole, font(bold=False), widest, 1, 1.0)), Line("", 1.0))
    width = line.width * letters + 2 * CELL_PADDING
    says = whole if whole != line.text else ""
    return Piece("cell", line.text, 0, 0, width, letters * CELL_HEIGHT, says)


def _rows(pieces: Sequence[Piece], width: float) -> list[list[Piece]]:
    rows: list[list[Piece]] = []
    for piece in pieces:
        if rows and _row_width([*rows[-1], piece]) <= width:
            rows[-1].append(piece)
        else:
            rows.append([piece])
    return rows


def _row_width(row: Sequence[Piece], between: float = _BETWEEN) -> float:
    return sum(piece.width + between for piece in row) - between


def _image(image: Image, most: tuple[float, float]) -> Piece:
    """Return an image at the author's size, reduced to the maximum size if necessary."""
    # Invalid and implausible sizes count as unknown.
    width, height = (one if 0 < one < _LARGEST else 0.0 for one in (image.width, image.height))
    if not width and not height:
        width, height = most[0] * _UNKNOWN[0], most[1] * _UNKNOWN[1]
    width, height = width or height * 4 / 3, height or width * 3 / 4
    scale = min(1.0, most[0] / width, most[1] / height)
    shown = one_line(image.alt[:_LONGEST])
    # Anything thinner than a line would be invisible.
    return Piece("image", image.digest, 0, 0, max(2, width * scale), max(2, height * scale), shown)


def _formula(source: str, drawing: FormulaDrawing, kind: Kind, layout_style: LayoutStyle) -> Piece:
    """Return a formula at the size of the text, reduced to the maximum size if necessary."""
    widest, highest = layout_style.formula
    em = kind.size * min(FORMULA, widest / drawing.width, highest / drawing.height)
    return Piece("formula", source, 0, 0, em * drawing.width, em * drawing.height)


def _mirrored(made: Contents, text_width: float) -> Contents:
    return made._replace(
        text_left=made.width - made.text_left - text_width,
        pieces=tuple(piece._replace(x=made.width - piece.x - piece.width) for piece in made.pieces),
    )
