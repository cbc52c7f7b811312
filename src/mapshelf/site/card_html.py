"""Render map cards as HTML.

A page has two dozen of them, and a template takes about twice as long for each.
"""

from collections.abc import Iterable
from typing import Final

from markupsafe import Markup

from mapshelf.site.cards import Card
from mapshelf.site.escaping import breakable_text, escaped
from mapshelf.site.messages import counted, say

LOADED_AT_ONCE: Final = 8
"""Number of cards whose pictures are loaded at once; browsers load the others when they are near
the view."""


def shelf_rows(cards: Iterable[Card], *, chosen: bool = False) -> Markup:
    """Return cards as HTML list items.

    Args:
        cards: the cards.
        chosen: whether readers can choose several of them with checkboxes, and link to each.
    """
    rows = []
    for number, one in enumerate(cards, 1):
        before = f'<li id="n{one.number}">{_pick(one)}' if chosen else "<li>"
        rows.append(f"{before}{_shelf_card(one, number > LOADED_AT_ONCE, 'h2')}</li>\n")
    return Markup("".join(rows))  # noqa: S704 - every text in it is escaped


def related_rows(cards: Iterable[Card]) -> Markup:
    """Return cards of maps that are related to the map of a page as HTML list items."""
    rows = [f"<li>{_shelf_card(one, True, 'h3')}</li>\n" for one in cards]
    return Markup("".join(rows))  # noqa: S704 - every text in it is escaped


def pick(card: Card) -> Markup:
    """Return the checkbox that chooses a map of a list."""
    return Markup(_pick(card))  # noqa: S704 - every text in it is escaped


def card_picture(card: Card, *, late: bool = False) -> Markup:
    """Return the thumbnail of a card; ``late`` if it may be loaded when it is near the view."""
    return Markup(_picture(card, late))  # noqa: S704 - every text in it is escaped


def card_facts(card: Card) -> Markup:
    """Return the owner, category, folder and dates of a card."""
    return Markup(_facts(card))  # noqa: S704 - every text in it is escaped


def card_versions(card: Card) -> Markup:
    """Return the maps that are folded into a card, if there are any."""
    return Markup(_versions(card))  # noqa: S704 - every text in it is escaped


# The functions below return plain strings, which are joined faster than Markup.


def _pick(card: Card) -> str:
    label = escaped(say("several.pick", title=card.title))
    return (
        f'<label class="pick"><input type="checkbox" name="map" value="{escaped(card.id)}">'
        f'<span class="unseen">{label}</span></label>'
    )


def _picture(card: Card, late: bool) -> str:
    loading = ' loading="lazy"' if late else ""
    return (
        "<picture>\n"
        f'<source media="(prefers-color-scheme: dark)" srcset="{escaped(card.small_dark)}">\n'
        f'<img src="{escaped(card.small)}" alt="" width="320" height="240"{loading}'
        ' decoding="async">\n'
        "</picture>\n"
    )


def _facts(card: Card) -> str:
    owner = category = folder = edited = place = ""
    if not card.is_of_system:
        owner = _fact(card.owner_address, escaped(card.owner))
    if not card.is_uncategorised:
        category = _fact(card.category_address, escaped(card.category))
    if card.says_folder:
        folder = _fact(card.folder_address, breakable_text(card.folder_below))
    if card.edited_date and card.edited_date != card.date:
        edited = (
            f'<span class="day">{escaped(say("card.edited"))} '
            f"{_time(card.edited, card.edited_date)}</span>"
        )
    if card.place:
        place = f'<p class="place" dir="auto">{card.place}</p>'
    return (
        f'<p class="facts dotted">\n{owner}{category}{folder}<span class="day">'
        f"{_time(card.added, card.date)}</span>\n{edited}</p>\n{place}"
    )


def _versions(card: Card) -> str:
    if not card.versions:
        return ""
    rows = "".join(map(_version, card.versions))
    title = escaped(counted("versions.group", len(card.versions) + 1))
    return f'<details class="versions"><summary>{title}</summary>\n<ul>\n{rows}</ul></details>\n'


def _shelf_card(card: Card, late: bool, level: str) -> str:
    address = escaped(card.address)
    return (
        '<article class="card">\n'
        f'<a class="picture" href="{address}" tabindex="-1" aria-hidden="true">'
        f"{_picture(card, late)}</a>\n"
        f'<{level} class="name"><a href="{address}" dir="auto">{escaped(card.title)}</a>'
        f"</{level}>\n"
        f"{_facts(card)}\n"
        f"{_versions(card)}\n"
        "</article>\n"
    )


def _time(moment: str, date: str) -> str:
    return f'<time datetime="{escaped(moment)}">{escaped(date)}</time>'


def _fact(address: str, inside: str) -> str:
    return f'<span><a href="{escaped(address)}"><bdi>{inside}</bdi></a></span>'


def _version(card: Card) -> str:
    file = f"<bdi>{breakable_text(card.file)}</bdi> · " if card.file else ""
    owner = "" if card.is_of_system else f"<bdi>{escaped(card.owner)}</bdi> · "
    return (
        f'<li id="n{card.number}"><a href="{escaped(card.address)}" dir="auto">'
        f'{escaped(card.title)}</a> <span class="facts">{file}{owner}'
        f"{_time(card.added, card.date)}</span></li>\n"
    )
