"""Texts for HTML where there are hundreds on a page; paths whose lines break well.

Nearly none of the texts has anything to escape. ``markupsafe.escape`` makes an object of each,
which takes three times as long as looking.
"""

import re
from typing import Final

from markupsafe import Markup, escape

_SPECIAL: Final = re.compile("[&<>'\"]")

_SLASH: Final = re.compile("(?<!<)/")
"""A slash between letters, not that of an end tag."""


def escaped(text: str) -> str:
    """Return a text as HTML, as ``markupsafe.escape`` writes it."""
    return str(escape(text)) if _SPECIAL.search(text) else text


def breakable(path: str) -> Markup:
    """Return a path in which lines break after slashes, and not within names if they fit.

    Args:
        path: text, or ``Markup`` with highlights.
    """
    return Markup(_SLASH.sub("/<wbr>", escape(path)))  # noqa: S704 - escaped
