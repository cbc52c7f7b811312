"""The colours of every topic of a picture: ours, or its author's where there are any.

An author chose colours for a ground, and often only some of them: words without what is behind
them, lines without boxes. What is missing is ours, and words are changed until they can be read on
what they stand on. No colour of an author is dropped.
"""

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Final, NamedTuple

from mapshelf.model import Style
from mapshelf.render.contrast import LINE, TEXT, contrast, legible
from mapshelf.render.nodes import Node
from mapshelf.render.themes import DARK, LIGHT, Theme

_COLOUR: Final = re.compile("#[0-9a-f]{6}")
_PAPER: Final = 0xF0
"""A background of which every part is at least as light is paper: in the dark it is ours."""

_WORDS: Final = (LIGHT.text, "#ffffff")  # on what an author filled without a colour for words
_SEEN: Final = 1.1  # contrast with which a box can just be told from the ground
_BARE: Final = ("none", "underline")  # shapes that are no box


class TopicColours(NamedTuple):
    """The colours of a topic, as ``#rrggbb``.

    Attributes:
        line: of the line to the topic above, and of counts.
        fill: behind the words, empty if that is the ground.
        border: of the line around them, empty if there is none.
        text: of the words.
    """

    line: str
    fill: str
    border: str
    text: str


def our_colours(node: Node, theme: Theme, line: str = "") -> TopicColours:
    """Return the colours of a topic as we choose them; ``line`` replaces the one of its branch."""
    own = line or branch_colour(node.main, theme, quiet=node.depth == 1 and not node.lines)
    if not node.kind.boxed:
        return TopicColours(own, "", "", theme.text)
    if node.kind.outlined:
        return TopicColours(own, theme.ground, own, theme.text)
    if node.depth == 0:
        return TopicColours(own, theme.centre, "", theme.on_centre)
    return TopicColours(own, own, "", legible(theme.on_branch, own))


def branch_colour(main: int, theme: Theme, *, quiet: bool = False) -> str:
    """Return our colour of a main branch, or the quiet one for what belongs to none."""
    return theme.quiet if main < 0 or quiet else theme.branches[main % len(theme.branches)]


def colours_of_ours(nodes: Iterable[Node], theme: Theme) -> list[TopicColours]:
    """Return our colours of all topics."""
    return [our_colours(node, theme) for node in nodes]


def colours_of_authors(nodes: Iterable[Node], theme: Theme) -> list[TopicColours]:
    """Return the colours of all topics, the author's where there are any.

    Args:
        nodes: the topics, parents before their children.
        theme: our colours, on the author's ground (``on_ground``).
    """
    all_colours: list[TopicColours] = []
    lines: dict[Node, str] = {}
    for node in nodes:
        line = lines.get(node.above, "") if node.above else ""
        if node.style is None:
            all_colours.append(our_colours(node, theme, line))
        else:
            chosen = valid(node.style.line)
            line = legible(chosen, theme.ground, LINE) if chosen else line
            all_colours.append(_colours(node, node.style, theme, line))
        if line:
            lines[node] = line
    return all_colours


def on_ground(theme: Theme, background: str) -> Theme:
    """Return ``theme`` on the ground that an author chose."""
    ground = valid(background)
    if not ground or ground == theme.ground:
        return theme
    if theme.ground != LIGHT.ground and min(bytes.fromhex(ground[1:])) >= _PAPER:
        return theme
    base = LIGHT if contrast(LIGHT.text, ground) >= contrast(DARK.text, ground) else DARK
    return replace(
        base,
        ground=ground,
        text=legible(base.text, ground),
        quiet=legible(base.quiet, ground),
        branches=tuple(legible(colour, ground, 3.0) for colour in base.branches),
    )


def valid(colour: str) -> str:
    """Return a colour of a map as ``#rrggbb``, empty if it is none: maps are not trusted."""
    return colour if _COLOUR.fullmatch(colour) else ""


def _colours(node: Node, style: Style, theme: Theme, line: str) -> TopicColours:
    """Return the colours of a topic of which the author chose some."""
    ours = our_colours(node, theme, line)
    fill, border, text = valid(style.fill), valid(style.border), valid(style.text)
    if border:
        border = legible(border, theme.ground, LINE)
    if not fill:
        if node.kind.boxed and (text or style.shape in _BARE):
            # Words keep their colour best on the ground.
            framed = "" if style.shape in _BARE else border or ours.line
            return TopicColours(
                ours.line, theme.ground, framed, legible(text or theme.text, theme.ground)
            )
        fill = ours.fill
    elif not text:
        text = max(_WORDS, key=lambda colour: contrast(colour, fill))
    words = legible(text or ours.text, fill or theme.ground, TEXT)
    border = border or ours.border
    if node.kind.boxed and not border and contrast(fill, theme.ground) < _SEEN:
        border = ours.line  # or its lines would end in the void
    return TopicColours(ours.line, fill, border, words)
