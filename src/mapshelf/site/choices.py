"""Represent the links of lists (facet values, sort orders, pages), and render facet values as HTML.

A page has over a hundred facet values. A template would take several microseconds for each, in
total a third of the time to render a page.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from markupsafe import Markup

from mapshelf.site.escaping import escaped


@dataclass(frozen=True, slots=True)
class Choice:
    """A link of a list, such as a facet value or a sort order.

    Attributes:
        name: the text of the link.
        address: its URL.
        count: the number of maps, -1 if there is no count.
        chosen: whether it is the current choice.
    """

    name: str
    address: str
    count: int = -1
    chosen: bool = False


def choice_rows(choices: Iterable[Choice]) -> Markup:
    """Return facet values as HTML list items, each with its link and count."""
    return Markup("".join(map(_row, choices)))  # noqa: S704 - every text in it is escaped


def links(choices: Iterable[Choice]) -> Markup:
    """Return links as HTML list items, without counts."""
    rows = [
        f'<li><a href="{escaped(one.address)}"{_current(one)}>{escaped(one.name)}</a></li>\n'
        for one in choices
    ]
    return Markup("".join(rows))  # noqa: S704 - every text in it is escaped


def letter_links(choices: Iterable[Choice]) -> Markup:
    """Return links to letters of any script as HTML list items."""
    rows = [
        f'<li><a href="{escaped(one.address)}"{_current(one)}><bdi>{escaped(one.name)}</bdi></a>'
        "</li>\n"
        for one in choices
    ]
    return Markup("".join(rows))  # noqa: S704 - every text in it is escaped


def _current(choice: Choice) -> str:
    return ' aria-current="true"' if choice.chosen else ""


def _row(choice: Choice) -> str:
    return (
        f'<li><a href="{escaped(choice.address)}"{_current(choice)}>'
        f'<bdi>{escaped(choice.name)}</bdi> <span class="count">{choice.count}</span></a></li>\n'
    )
