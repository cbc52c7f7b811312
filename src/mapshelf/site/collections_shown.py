"""A collection as pages show it: its own facts, and where everything about it is."""

from dataclasses import dataclass

from mapshelf.api.map_writing import map_object
from mapshelf.model import Collection, Map
from mapshelf.site.account_rows import Moment, moment
from mapshelf.site.addresses import Addresses
from mapshelf.site.cards import Card, card
from mapshelf.snapshot.read import Record


@dataclass(frozen=True, slots=True)
class CollectionCard:
    """A collection in a list, or on its page.

    Attributes:
        id: identifies it.
        title: its title.
        text: what its owner says about it.
        owner: who made it.
        owner_address: the collections of its owner.
        visibility: who sees it.
        pinned: whether it is on the first page.
        count: how many published maps it has.
        changed: when it was changed last.
        address: its page.
        small: its picture, in the size of lists.
        small_dark: the same, for a dark page.
        large: its picture, for other sites.
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
    """Return a collection as pages show it."""
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


def card_of(found: Map, addresses: Addresses) -> Card:
    """Return a map of the store as lists show it."""
    body = map_object(found, addresses.base_url.encode())
    return card(Record(found.file_id, body), addresses, [])
