"""Lay out the content of a topic's box: text, icons, marks, images, tags and formulas.

Icons precede the text; marks for notes, links and files follow it. Images are above it, tags below.
A formula is below the text, or replaces it if there is none. In right-to-left maps everything is
mirrored. Topics with only text, which are the majority, skip most of this.
"""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from mapshelf.model import Image, Topic
from mapshelf.render.fonts import font
from mapshelf.render.formula_drawing import FormulaDrawing
from mapshelf.render.glyphs import emoji_text, markers_of, said
from mapshelf.render.layout_style import LINE_HEIGHT, Kind, LayoutStyle
from mapshelf.render.visible_topics import VisibleTopic
from mapshelf.render.wrapping import Line, wrapped
from mapshelf.writers.plain import one_line

_GLYPH: Final = 1.2
_MARK: Final = 0.95
_TAG: Final = 0.78
"""Heights of icons, marks and the letters of tags, in font sizes."""

FORMULA: Final = 1.12
"""Font size of formulas, in font sizes of the text: the letters of their font are smaller."""

_APART: Final = 0.22
"""Space between icons, in font sizes."""

_MOST_GLYPHS: Final = 12
_MOST_TAGS: Final = 8
_MOST_IMAGES: Final = 4
"""Maximum icons, tags and images drawn in a topic. The text of the page lists all of them."""

_TAG_WIDTH: Final = 16.0  # of the longest, in font sizes
_TAG_PADDING: Final = 5.0
_BETWEEN: Final = 4.0  # pictures, text and tags
_UNKNOWN: Final = (0.6, 0.6)  # of the maximum size, for images of unknown size
_LARGEST: Final = 1e5  # of any picture
_LONGEST: Final = 300  # characters of a description


class Piece(NamedTuple):
    """An element in the box of a topic.

    Attributes:
        kind: ``glyph``, ``emoji``, ``mark``, ``tag``, ``image`` or ``formula``.
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
    images = [
        _image(image, layout_style.picture) for image in topic.images[:_MOST_IMAGES] if image.digest
    ]
    formulas = [_formula(topic.formula, shown.formula, kind, layout_style)] if shown.formula else []
    if not (glyphs or marks or tags or images or formulas):
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
    wide = [piece.width for piece in (*images, *formulas)]
    tag_rows = _rows(tags, max([row, 14 * kind.size, *wide]))
    inner = max([row, *wide, *map(_row_width, tag_rows)])

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
    for some in (*([one] for one in formulas), *tag_rows):
        x = kind.across + ((inner - _row_width(some)) / 2 if kind.boxed else 0)
        for piece in some:
            pieces.append(piece._replace(x=x, y=y))
            x += piece.width + _BETWEEN
        y += some[0].height + _BETWEEN
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
        "note": bool(topic.note.strip()),
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


def _rows(pieces: Sequence[Piece], width: float) -> list[list[Piece]]:
    rows: list[list[Piece]] = []
    for piece in pieces:
        if rows and _row_width([*rows[-1], piece]) <= width:
            rows[-1].append(piece)
        else:
            rows.append([piece])
    return rows


def _row_width(row: Sequence[Piece]) -> float:
    return sum(piece.width + _BETWEEN for piece in row) - _BETWEEN


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
