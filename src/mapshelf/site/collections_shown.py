"""Prepare collections for templates: their details, and the URLs of their page and pictures."""

from collections.abc import Sequence
from dataclasses import dataclass

from mapshelf.api.map_writing import map_object
from mapshelf.model import Collection, Map
from mapshelf.site.account_rows import Moment, moment
from mapshelf.site.addresses import Addresses
from mapshelf.site.cards import Card, add_places, card
from mapshelf.snapshot.read import Details, Record, Snapshot


@dataclass(frozen=True, slots=True)
class CollectionCard:
    """A collection in a list, or on its page.

    Attributes:
        id: its public ID.
        title: its title.
        text: its description, written by its owner.
        owner: the name of its owner.
        owner_address: the URL of the list of its owner's collections.
        visibility: who may see it.
        pinned: whether it is pinned to the front page.
        count: the number of published maps in it.
        changed: when it was last changed.
        address: the URL of its page.
        small: the URL of its picture, in the size for lists.
        small_dark: the same in dark colours.
        large: the URL of its picture, in the size for other sites.
    """

    id: str
    title: str
    text: str
    owner: str
    owner_address: str
    visibility: str
    pinned: bool
    count: int
    changed: Moment
    address: str
    small: str
    small_dark: str
    large: str


def collection_card(found: Collection, addresses: Addresses) -> CollectionCard:
    """Return the card of a collection."""
    return CollectionCard(
        id=found.id,
        title=found.title,
        text=found.text,
        owner=found.owner,
        owner_address=addresses.collections({"owner": found.owner}),
        visibility=found.visibility.value,
        pinned=found.pinned is not None,
        count=found.maps,
        changed=moment(found.changed),
        address=addresses.collection(found.id, found.title),
        small=addresses.collection_picture(found.id, 320),
        small_dark=addresses.collection_picture(found.id, 320, theme="dark"),
        large=addresses.collection_picture(found.id, 1280),
    )


def cards_of(maps: Sequence[Map], addresses: Addresses, snapshot: Snapshot) -> list[Card]:
    """Return the cards of maps that were read from the store, as in lists.

    Only the snapshot knows the files of maps, so maps that it does not list show none.
    """
    cards = [_card_of(one, addresses, snapshot) for one in maps]
    add_places(cards)
    return cards


def _card_of(found: Map, addresses: Addresses, snapshot: Snapshot) -> Card:
    body, listed = map_object(found, addresses.base_url.encode()), snapshot.find(found.id, b"")
    details = listed.details if listed else Details()
    return card(Record(found.file_id, body, details), addresses, [])
