"""Escape HTML fast, for pages with hundreds of texts, and allow line breaks in paths.

Nearly no text needs escaping. ``markupsafe.escape`` creates an object for each, which takes three
times as long as a check.
"""

import re
from typing import Final

from markupsafe import Markup, escape

_SPECIAL: Final = re.compile("[&<>'\"]")

_SLASH: Final = re.compile("(?<!<)/")
"""A slash between letters, not that of an end tag."""


def escaped(text: str) -> str:
    """Escape a text for HTML, with the same result as ``markupsafe.escape``."""
    return str(escape(text)) if _SPECIAL.search(text) else text


def breakable_text(path: str) -> str:
    """Return a path, which is text, like ``breakable``."""
    return escaped(path).replace("/", "/<wbr>")


def breakable(path: str) -> Markup:
    """Return a path that may wrap after slashes; a name wraps only if it is too long for a line.

    Args:
        path: text, or ``Markup`` with highlights.
    """
    return Markup(_SLASH.sub("/<wbr>", escape(path)))  # noqa: S704 - escaped
