"""Choose the colours of every topic: the author's where set, otherwise ours.

Authors choose colours for one background, and often set only some of them: a text colour without a
fill, or lines without boxes. The colours that are missing are ours. Text, border and line colours
that are hard to see are not dropped, but made lighter or darker as far as necessary.
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
"""Minimum of red, green and blue for a background to count as white paper: the dark theme ignores
such a background and uses its own."""

_WORDS: Final = (LIGHT.text, "#ffffff")  # text colours to choose from if only the fill is set
_SEEN: Final = 1.1  # minimum contrast at which a box stands out from the background
_BARE: Final = ("none", "underline")  # shapes without a box


class TopicColours(NamedTuple):
    """The colours of a topic, as ``#rrggbb``.

    Attributes:
        line: colour of the line to the parent, and of the count of hidden topics.
        fill: fill colour of the box, empty if there is none.
        border: border colour of the box, empty if there is none.
        text: text colour.
    """

    line: str
    fill: str
    border: str
    text: str


def our_colours(node: Node, theme: Theme, line: str = "") -> TopicColours:
    """Return the colours that we choose for a topic; ``line``, if set, replaces its branch colour.

    This ignores the style set by the author.
    """
    own = line or branch_colour(node.main, theme, quiet=node.depth == 1 and not node.lines)
    if not node.kind.boxed:
        return TopicColours(own, "", "", theme.text)
    if node.kind.outlined:
        return TopicColours(own, theme.ground, own, theme.text)
    if node.depth == 0:
        return TopicColours(own, theme.centre, "", theme.on_centre)
    return TopicColours(own, own, "", legible(theme.on_branch, own))


def branch_colour(main: int, theme: Theme, *, quiet: bool = False) -> str:
    """Return our colour of the main branch with this index, or the quiet colour.

    The quiet colour is for topics that belong to no main branch (index below 0), or if ``quiet``.
    """
    return theme.quiet if main < 0 or quiet else theme.branches[main % len(theme.branches)]


def colours_of_ours(nodes: Iterable[Node], theme: Theme) -> list[TopicColours]:
    """Return our colours for all topics, without those of the author."""
    return [our_colours(node, theme) for node in nodes]


def colours_of_authors(nodes: Iterable[Node], theme: Theme) -> list[TopicColours]:
    """Return the colours of all topics, the author's where they are set.

    A line colour set by the author also applies to the descendants of the topic.

    Args:
        nodes: the topics, parents before their children.
        theme: our colours, adapted to the author's background (``on_ground``).
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
    """Return ``theme``, adapted to the background set by the author.

    It is unchanged if no valid background is set, or if the theme is dark and the background is
    almost white. Otherwise it is the light or the dark theme, whichever has the more legible text
    on that background, with colours adjusted to it.
    """
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
    """Return a colour from a map if it has the form ``#rrggbb``, otherwise an empty string.

    Maps are not trusted, and the colour is written to SVG.
    """
    return colour if _COLOUR.fullmatch(colour) else ""


def _colours(node: Node, style: Style, theme: Theme, line: str) -> TopicColours:
    """Return the colours of a topic with a style set by the author."""
    ours = our_colours(node, theme, line)
    fill, border, text = valid(style.fill), valid(style.border), valid(style.text)
    if border:
        border = legible(border, theme.ground, LINE)
    if not fill:
        if node.kind.boxed and (text or style.shape in _BARE):
            # Directly on the background, the author's text colour needs the least change.
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
        border = ours.line  # otherwise the connectors would end at an invisible box
    return TopicColours(ours.line, fill, border, words)
