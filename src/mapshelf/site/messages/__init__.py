"""Provide the user-visible messages of all web pages, ready for translation.

A translation is another mapping with the same keys. Messages with a number have a singular and a
plural form. Each module holds the messages of some pages. ``scripts`` holds those of the scripts,
which pages embed as data.
"""

from collections.abc import Mapping
from typing import Final

from mapshelf.site.messages.administration import ADMINISTRATION
from mapshelf.site.messages.collections import COLLECTIONS
from mapshelf.site.messages.form_errors import FAILURES
from mapshelf.site.messages.languages import LANGUAGES
from mapshelf.site.messages.library import LIBRARY
from mapshelf.site.messages.map_page import MAP_PAGE
from mapshelf.site.messages.people import PEOPLE
from mapshelf.site.messages.programs import PROGRAMS
from mapshelf.site.messages.publishing import PUBLISHING

ENGLISH: Final[Mapping[str, str]] = {
    **LIBRARY,
    **LANGUAGES,
    **MAP_PAGE,
    **PUBLISHING,
    **COLLECTIONS,
    **PEOPLE,
    **PROGRAMS,
    **ADMINISTRATION,
    **FAILURES,
}
"""The messages of the pages."""


def say(key: str, **values: object) -> str:
    """Return the message ``key`` with ``values`` filled in."""
    text = ENGLISH[key]
    if not values and "{" not in text:  # true of most messages
        return text
    # Not str.format: the values are untrusted and may contain braces.
    pieces = text.split("{")
    filled = [pieces[0]]
    for piece in pieces[1:]:
        name, _, rest = piece.partition("}")
        filled.append(f"{values[name]}{rest}")
    return "".join(filled)


def counted(key: str, count: int) -> str:
    """Return the message ``key`` for this count."""
    return say(f"{key}.one" if count == 1 else f"{key}.other", count=f"{count:,}")
