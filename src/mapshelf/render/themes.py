"""Define the colours of pictures on a light and on a dark background.

Main branches take the branch colours in turn. Neighbouring colours differ for colour-blind people,
too. Text on any of them has a contrast of at least 4.5 to 1 (WCAG 2, level AA), which
``tests/render`` checks.
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Theme:
    """A set of colours, as ``#rrggbb``.

    Attributes:
        name: the name of the theme in requests.
        ground: the background.
        text: text directly on the background.
        quiet: secondary text.
        centre: the box of the central topic.
        on_centre: the text in that box.
        branches: the main branches, in turn.
        on_branch: the text in boxes of these colours.
    """

    name: str
    ground: str
    text: str
    quiet: str
    centre: str
    on_centre: str
    branches: tuple[str, ...]
    on_branch: str


LIGHT: Final = Theme(
    name="light",
    ground="#ffffff",
    text="#1f2a37",
    quiet="#5b6776",
    centre="#243447",
    on_centre="#ffffff",
    branches=(
        "#2563c9",
        "#bf4d0a",
        "#23804f",
        "#b02a78",
        "#7a6300",
        "#6a45c0",
        "#0d7684",
        "#c22f3d",
    ),
    on_branch="#ffffff",
)

DARK: Final = Theme(
    name="dark",
    ground="#151b23",
    text="#e3e8ee",
    quiet="#9aa7b5",
    centre="#eef2f6",
    on_centre="#18212c",
    branches=(
        "#79b0ff",
        "#ffa869",
        "#6fd39b",
        "#f291ce",
        "#dcc55a",
        "#b8a2ff",
        "#62cbd8",
        "#ff8f95",
    ),
    on_branch="#10161d",
)

THEMES: Final = {theme.name: theme for theme in (LIGHT, DARK)}
