"""Build the navigation of lists: numbered pages, first letters, and a choice of cards or table."""

from collections.abc import Callable, Mapping
from typing import Final

from mapshelf.query import MapQuery
from mapshelf.site.addresses import Addresses
from mapshelf.site.choices import Choice
from mapshelf.site.messages import say
from mapshelf.snapshot.read import Snapshot

VIEW: Final = "view"
CARDS: Final = "cards"
TABLE: Final = "table"
VIEWS: Final = (CARDS, TABLE)
"""The values of the parameter ``VIEW``, which selects how a list is shown."""

AROUND: Final = 2  # number of pages on either side of the current one that are linked


def numbered(page: int, pages: int, address: Callable[[int], str]) -> list[Choice]:
    """Return links to the first page, the pages around the current one, and the last page.

    An ellipsis without URL stands for omitted pages.
    """
    near = range(max(1, page - AROUND), min(pages, page + AROUND) + 1)
    choices: list[Choice] = []
    before = 0
    for one in sorted({1, *near, pages}):
        if one == before + 2:  # an ellipsis would take as much space as the omitted page
            choices.append(Choice(str(one - 1), address(one - 1)))
        elif one > before + 2:
            choices.append(Choice("…", ""))
        choices.append(Choice(str(one), address(one), chosen=one == page))
        before = one
    return choices


def letters_of(
    query: MapQuery, page_size: int, snapshot: Snapshot, addresses: Addresses
) -> list[Choice]:
    """Return the first letters of an alphabetical list, each with the URL where it begins.

    The result is empty for other orders, for searches, and if there is only one letter.
    """
    if query.order != "alpha" or query.text:
        return []
    found = snapshot.letters(query)
    if len(found) < 2:
        return []
    ends = [one.offset for one in found[1:]] + [query.offset + page_size]
    given, choices = dict(query.given), []
    for one, end in zip(found, ends, strict=True):
        on_page = one.offset < query.offset + page_size and end > query.offset
        start = one.offset // page_size * page_size
        # The first map of a letter may be anywhere on its page, so the URL has a fragment.
        place = f"#n{one.offset - start + 1}" if one.offset > start else ""
        choices.append(Choice(one.name, addresses.library(given, start) + place, chosen=on_page))
    return choices


def views_of(
    view: str, given: Mapping[str, str], offset: int, addresses: Addresses
) -> list[Choice]:
    """Return the views of a list (cards, table) as links; ``given`` are its other parameters."""
    return [
        Choice(
            say(f"view.{one}"),
            addresses.library({**given, **({VIEW: one} if one != CARDS else {})}, offset),
            chosen=one == view,
        )
        for one in VIEWS
    ]
