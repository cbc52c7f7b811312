"""Show twins, which are maps with the same or nearly the same topics.

A map page lists the twins of the map, lists fold twins into one card, and administrators have a
page with all groups of twins.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import orjson

from mapshelf.api.browser_sessions import Session
from mapshelf.api.http import Request, Response
from mapshelf.model import SYSTEM_USER
from mapshelf.site.addresses import Addresses
from mapshelf.site.cards import Card, card
from mapshelf.site.messages import say
from mapshelf.site.personal import Page, Paths, Personal
from mapshelf.snapshot.read import Alike, Record, Snapshot
from mapshelf.store.contract import Maps

MOST_SHOWN: Final = 12
"""Maximum number of twins on the page of a map."""

MOST_GROUPS: Final = 100
"""Maximum number of groups of twins on the page of duplicates."""

MOST_IN_GROUP: Final = 20
"""Maximum number of maps shown per group."""

EACH: Final = ("versions", "all")
"""The query parameter, and its value, with which lists show each twin on a card of its own."""


@dataclass(frozen=True, slots=True)
class TwinRow:
    """A twin of a map.

    Attributes:
        id: its public ID.
        title: its title.
        owner: the name of its owner, empty for the system user.
        file: the path of its file, empty if unknown.
        address: the URL of its page.
        likeness: how similar it is to the map, in words.
    """

    id: str
    title: str
    owner: str
    file: str
    address: str
    likeness: str


def twins_of(
    record: Record, public_id: str, snapshot: Snapshot, store: Maps, addresses: Addresses
) -> list[TwinRow]:
    """Return the twins of a map, most similar first.

    Raises:
        StoreUnavailable: the store cannot be reached.
    """
    found = snapshot.twins(public_id, b"")[:MOST_SHOWN]
    kept = store.kept_file(record.file_id) if found else None
    digest = kept.digest if kept else None
    return [_row(alike, digest, store, addresses) for alike in found]


def _row(alike: Alike, digest: bytes | None, store: Maps, addresses: Addresses) -> TwinRow:
    share = round(alike.share * 20) * 5
    likeness = say("twins.near", share=share) if share < 100 else say("twins.nearly")
    if alike.same:
        kept = store.kept_file(alike.record.file_id)
        same_file = digest is not None and kept is not None and kept.digest == digest
        likeness = say("twins.file" if same_file else "twins.same")
    return _named(alike.record, likeness, addresses)


def _named(record: Record, likeness: str, addresses: Addresses) -> TwinRow:
    found = orjson.loads(record.body)
    address = addresses.map(found["ID"], found["Title"])
    file = record.details.source
    owner = "" if found["Owner"] == SYSTEM_USER else found["Owner"]
    return TwinRow(found["ID"], found["Title"], owner, file, address, likeness)


def about_the_same(
    public_id: str, snapshot: Snapshot, addresses: Addresses, limit: int
) -> list[Card]:
    """Return the cards of maps on the same subject as a map."""
    return [card(one, addresses, []) for one in snapshot.about_the_same(public_id, limit, b"")]


def folded(cards: Sequence[Card], slots: Sequence[int], snapshot: Snapshot) -> list[Card]:
    """Return the cards of a page, with each group of twins folded into the card of the first.

    Args:
        cards: the cards; those that others are folded into are changed.
        slots: the slots of their maps.
        snapshot: the snapshot.
    """
    hidden: set[int] = set()
    for first, *rest in snapshot.twins_among(slots):
        cards[first].versions = [cards[place] for place in rest]
        hidden.update(rest)
    return [one for place, one in enumerate(cards) if place not in hidden]


class DuplicatePages:
    """Handler of the page of all twins, for administrators. It only lists them."""

    def __init__(self, personal: Personal) -> None:
        """Create the handlers on top of ``personal``."""
        self._personal = personal

    def paths(self) -> Paths:
        """Return the handlers of the page by path."""
        return {
            "/account/duplicates": (self._personal.page_for("see duplicates", self._show), None),
        }

    async def _show(self, request: Request, session: Session) -> Response:
        context = self._personal.context
        current = context.snapshot.get()
        make = partial(_duplicates, current.snapshot, self._personal.addresses)
        key = (current, "duplicates")  # computed once for concurrent requests
        groups, more = await context.queues.pages.result(
            key, make, request.disconnection, owner=request.owner
        )
        values = {"groups": groups, "more": more}
        return await self._personal.page(Page("duplicates.html", values), session)


Groups = list[tuple[list[TwinRow], int]]
"""Groups of twins: for each the twins that are shown, and the number of further ones."""


def _duplicates(snapshot: Snapshot, addresses: Addresses) -> tuple[Groups, int]:
    found = snapshot.duplicates
    groups = []
    for slots in found[:MOST_GROUPS]:
        shown = slots[:MOST_IN_GROUP]
        first = snapshot.outline_key(shown[0])
        rows = [
            _named(
                record,
                say("twins.same" if snapshot.outline_key(slot) == first else "twins.nearly"),
                addresses,
            )
            for slot, record in zip(shown, snapshot.at(shown, b""), strict=True)
        ]
        groups.append((rows, len(slots) - len(shown)))
    return groups, max(0, len(found) - MOST_GROUPS)
