"""Encode the data from which the script on a map's page draws the map, with all topics measured.

The server wraps texts and measures them in the font of ``render``, so that the result is the same
in every browser. It also places icons and pictures in the box of each topic, and decides which of
the author's colours are legible. The browser computes the positions of topics
(``static/layout.js``), because folding a branch moves all others. A test checks that it agrees with
``render.layout``.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final

import orjson

from mapshelf.model import Outline, Sheet
from mapshelf.render.arrows import links
from mapshelf.render.contents import CELL_HEIGHT, CELL_PADDING, Piece, only_text
from mapshelf.render.contrast import LINE, TEXT, legible, tint
from mapshelf.render.direction import reads_leftwards
from mapshelf.render.fonts import ASCENT, font
from mapshelf.render.formula_drawing import UNITS
from mapshelf.render.formulas import Drawings, drawings, formulas_of
from mapshelf.render.glyphs import BOX, COLOURS, EDGE, EDGED, MARKS, glyph, mark
from mapshelf.render.layout_style import (
    BOUNDARY_PADDING,
    BRACE,
    COUNT_GAP,
    COUNT_PADDING,
    COUNT_SIZE,
    FLOATING_GAP,
    LABEL_SIZE,
    LINE_HEIGHT,
    PAGE,
)
from mapshelf.render.nodes import Forest, Group, Node, by_id, forest
from mapshelf.render.themes import DARK, LIGHT, Theme
from mapshelf.render.topic_colours import (
    TopicColours,
    colours_of_authors,
    colours_of_ours,
    on_ground,
    valid,
)
from mapshelf.render.visible_topics import whole, with_formulas
from mapshelf.render.wrapping import Line
from mapshelf.writers.plain import one_line

_SIDES: Final = {"left": -1, "right": 1}


def large_map_data(outline: Outline) -> bytes:
    """Return all sheets of a map as JSON; runs in a sandboxed process and also renders formulas."""
    return map_data(outline, drawings(formulas_of(topic for _, topic in outline.topics())))


def map_data(outline: Outline, formulas: Drawings) -> bytes:
    """Return all sheets of a map as JSON.

    Args:
        outline: the map.
        formulas: the formulas in it that can be drawn.
    """
    glyphs: dict[str, list[Any]] = {}
    return orjson.dumps(
        {
            "lineHeight": LINE_HEIGHT,
            "ascent": ASCENT,
            "label": LABEL_SIZE,
            "padding": BOUNDARY_PADDING,
            "cell": [CELL_HEIGHT, CELL_PADDING],
            "brace": BRACE,
            "gap": FLOATING_GAP,
            "stray": PAGE.stray,
            "count": {
                "size": COUNT_SIZE,
                "padding": COUNT_PADDING,
                "gap": COUNT_GAP,
                "digit": font(bold=True).width("0"),
                "plus": font(bold=True).width("+"),
            },
            "kinds": [kind._asdict() for kind in PAGE.every_kind],
            "levels": len(PAGE.kinds),
            "sheets": [_sheet(sheet, glyphs, formulas) for sheet in outline.sheets],
            "glyphs": glyphs,
            "glyphBox": BOX,
            "formulas": {
                formula: [drawing.path, drawing.height * UNITS]
                for formula, drawing in formulas.items()
            },
        }
    )


def _sheet(sheet: Sheet, glyphs: dict[str, list[Any]], formulas: Drawings) -> dict[str, Any]:
    leftwards = reads_leftwards(sheet.root)
    made = forest(with_formulas(whole(sheet), formulas), PAGE, right_to_left=leftwards)
    numbers = {node: number for number, node in enumerate(made.nodes)}
    styles = _Styles(sheet, made.nodes)
    for node in made.nodes:
        for piece in node.pieces:
            _add_glyph(piece, glyphs)
    data: dict[str, Any] = {
        "leftwards": leftwards,
        "title": one_line(sheet.title),
        # Each topic is a list: the index of its parent, its id, its width and height, its lines
        # with their widths, and any further data.
        "topics": [
            _topic(node, numbers[node.above] if node.above else -1, styles) for node in made.nodes
        ],
    }
    beside = {
        "groups": _groups(made, numbers, styles),
        "around": [
            [numbers[root], *_label(group), styles.of_colour(group.colour)]
            for root, group in made.around
        ],
        "arrows": _arrows(sheet, made.nodes, numbers, styles),
        "styles": styles.written,
        "ground": styles.ground,
    }
    return data | {name: value for name, value in beside.items() if value}


def _topic(node: Node, parent: int, styles: "_Styles") -> list[Any]:
    row = [
        parent,
        node.topic.id,
        round(node.body, 2),
        round(node.height, 2),
        [_line(line, node.kind.size) for line in node.lines],
    ]
    more = _more(node, styles)
    return [*row, more] if more else row


def _line(line: Line, size: float) -> list[Any]:
    """Return a line with its width and, if its parts differ in style, each part with its style."""
    row: list[Any] = [line.text, round(line.width * size, 2)]
    if line.parts:
        row.append(
            [[part.text, round(part.width * size, 2), *sorted(part.marks)] for part in line.parts]
        )
    return row


def _more(node: Node, styles: "_Styles") -> dict[str, Any]:
    """Return the data that most topics lack, keyed by a letter."""
    more: dict[str, Any] = {}
    topic, contents = node.topic.source, node.contents
    assert topic is not None
    if node.kind_number != PAGE.number(node.depth):
        more["k"] = node.kind_number
    if contents != only_text(node.kind, node.lines, node.text_width):
        places = (contents.text_left, contents.text_top, node.text_width)
        more["t"] = [round(place, 2) for place in places]
    if node.pieces:
        more["p"] = [
            [piece.kind, piece.name, *(round(value, 2) for value in piece[2:6]), piece.says]
            for piece in node.pieces
        ]
    if topic.side in _SIDES and node.depth == 1:
        more["s"] = _SIDES[topic.side]
    if topic.position and node.depth and (node.above is None or node.is_free):
        more["at"] = topic.position
    signs = {
        "f": topic.folded and topic.children,
        "n": node.is_callout,
        "h": node.above and not node.has_line,
    }
    more |= {sign: 1 for sign, is_set in signs.items() if is_set}
    if style := topic.style:
        more |= {"b": 1} if style.bold and not node.kind.bold else {}
        more |= {"i": 1} if style.italic else {}
        more |= {"x": style.shape} if style.shape else {}
    if (number := styles.of_node.get(node, -1)) >= 0:
        more["c"] = number
    return more


def _groups(made: Forest, numbers: dict[Node, int], styles: "_Styles") -> list[list[Any]]:
    """Return boundaries and summaries by the index of their parent, in layout order."""
    return [
        [
            numbers[node],
            group.first,
            group.last,
            *_label(group),
            styles.of_colour(group.colour),
            numbers[group.summary] if group.summary else -1,
        ]
        for node in made.nodes
        for group in node.groups
    ]


def _label(group: Group) -> tuple[str, float, float]:
    text = group.label.text if group.label else ""
    return text, round(group.label_width, 2), round(group.label_height, 2)


def _arrows(
    sheet: Sheet, nodes: Sequence[Node], numbers: dict[Node, int], styles: "_Styles"
) -> list[list[Any]]:
    if not sheet.relationships:
        return []
    return [
        [
            numbers[link.start],
            numbers[link.end],
            link.label.text if link.label else "",
            round(link.width, 2),
            styles.of_colour(link.colour),
            *([] if link.heads == "end" and not link.point else [link.heads, link.point]),
        ]
        for link in links(sheet.relationships, by_id(nodes))
    ]


def _add_glyph(piece: Piece, glyphs: dict[str, list[Any]]) -> None:
    """Add a shape with its fill colour, border colour and letters."""
    if piece.name in glyphs or piece.kind not in ("glyph", "mark"):
        return
    if piece.kind == "mark":
        assert piece.name in MARKS
        # Marks and markers may share a name but have different shapes.
        glyphs[f"mark {piece.name}"] = [mark(piece.name)]
    elif found := glyph(piece.name):
        edge = EDGE if found.colour in EDGED else ""
        glyphs[piece.name] = [found.path, COLOURS[found.colour], edge, found.text]


class _Styles:
    """The colours chosen by the author of a sheet, each combination once.

    Attributes:
        written: for each combination, its colours on a light and on a dark background: line, fill,
            border, text, and text in the colour of the line.
        ground: the same for the sheet: background, text, muted text, and branches; empty for the
            default colours.
        of_node: index of a topic's combination, if it has one.
    """

    def __init__(self, sheet: Sheet, nodes: Sequence[Node]) -> None:
        self.written: list[list[list[str]]] = []
        self.of_node: dict[Node, int] = {}
        self._numbers: dict[tuple[tuple[str, ...], ...], int] = {}
        self._themes = [on_ground(theme, sheet.background) for theme in (LIGHT, DARK)]
        self.ground = [] if self._themes == [LIGHT, DARK] else [*map(_ground, self._themes)]
        if self.ground or any(node.style for node in nodes):
            self._add(nodes)

    def of_colour(self, colour: str) -> int:
        """Return the index of the combination for a single colour, -1 if the author chose none.

        Shapes with an interior are filled with a tint of the colour.
        """
        if not valid(colour):
            return -1
        return self._number(
            (
                legible(colour, theme.ground, LINE),
                tint(colour, theme.ground),
                *("", ""),
                legible(colour, theme.ground),
            )
            for theme in self._themes
        )

    def _add(self, nodes: Sequence[Node]) -> None:
        ours = [colours_of_ours(nodes, theme) for theme in self._themes]
        theirs = [colours_of_authors(nodes, theme) for theme in self._themes]
        for number, node in enumerate(nodes):
            pairs = [(one[number], own[number]) for one, own in zip(theirs, ours, strict=True)]
            if any(one != other for one, other in pairs):
                self.of_node[node] = self._number(
                    _written(colours, own, theme)
                    for (colours, own), theme in zip(pairs, self._themes, strict=True)
                )

    def _number(self, combination: Iterable[tuple[str, ...]]) -> int:
        key = tuple(combination)
        if key not in self._numbers:
            self._numbers[key] = len(self.written)
            self.written.append([list(colours) for colours in key])
        return self._numbers[key]


def _written(colours: TopicColours, own: TopicColours, theme: Theme) -> tuple[str, ...]:
    """Return the colours of a topic, empty where they equal the defaults."""
    line = colours.line if colours.line != own.line else ""
    told = legible(colours.line, theme.ground, TEXT) if line else ""
    return (
        line,
        colours.fill if colours.fill != own.fill else "",
        colours.border if colours.border != own.border else "",
        colours.text if colours.text != own.text else "",
        told,
    )


def _ground(theme: Theme) -> list[str]:
    own = (theme.ground, theme.text, theme.quiet, theme.centre, theme.on_centre, theme.on_branch)
    return [*own, *theme.branches]
