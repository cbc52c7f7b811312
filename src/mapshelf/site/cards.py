"""Build map cards: the data of a map as shown in lists, with URLs of this site.

Records may have external URLs for thumbnail and page. Lists do not use them: the URLs are
untrusted, and loading an image from another host would reveal to it who views which map.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson
from markupsafe import Markup

from mapshelf.formats.ndjson_records import format_date
from mapshelf.model import SYSTEM_USER, UNCATEGORISED
from mapshelf.search.snippets import Snippet
from mapshelf.site.addresses import Addresses
from mapshelf.site.escaping import breakable
from mapshelf.snapshot.read import Record
from mapshelf.text.normalize import normalize

NO_PLACE: Final = Markup("")
"""The path of a card that shows none."""


@dataclass(frozen=True, slots=True)
class FoundTopic:
    """A topic that matches a search.

    Attributes:
        address: URL of the map's page, opened at the topic.
        path: the texts of its ancestors.
        text: its text with highlights.
        note: an excerpt of its note with highlights, empty if nothing in the note matches.
    """

    address: str
    path: list[str]
    text: Markup
    note: Markup


@dataclass(slots=True)
class Card:
    """A map in a list; counts such as ``views`` come from the record.

    The list that a card is in sets ``place``, ``within``, ``number`` and ``versions``. A changed
    copy would take longer than the card itself.

    Attributes:
        addresses: builds its URLs; most lists need few of them.
        edited: time of the last edit (RFC 3339), empty if unknown.
        edited_date: the date of ``edited``.
        file: path of its file relative to the imported folder, empty if unknown.
        place: the path to display, with highlights. Set only if it matches a search, or if another
            map in the list has the same title; then it is relative to ``within``.
        folder: path of the folder of its file, empty if unknown.
        size: size of its file in kilobytes, empty if unknown.
        topic_count: number of topics, 0 if unknown.
        versions: maps with the same topics that are folded into this card.
        within: the listed folder, which the card omits from paths; empty for all maps.
        number: its place on the page of a list, before folding: links lead to it.
    """

    id: str
    title: str
    description: str
    address: str
    addresses: Addresses
    owner: str
    category: str
    category_id: str
    software: str
    added: str
    date: str
    views: int
    downloads: int
    thumbs_up: int
    topics: list[FoundTopic]
    edited: str
    edited_date: str
    file: str
    place: Markup
    folder: str
    size: str
    topic_count: int
    versions: "Sequence[Card]" = ()
    within: str = ""
    number: int = 0

    @property
    def small(self) -> str:
        """URL of its thumbnail."""
        return self.addresses.thumbnail(self.id, 320)

    @property
    def large(self) -> str:
        """URL of its thumbnail in twice the size."""
        return self.addresses.thumbnail(self.id, 640)

    @property
    def small_dark(self) -> str:
        """URL of its thumbnail in dark colours."""
        return self.addresses.thumbnail(self.id, 320, theme="dark")

    @property
    def large_dark(self) -> str:
        """URL of its thumbnail in twice the size, in dark colours."""
        return self.addresses.thumbnail(self.id, 640, theme="dark")

    @property
    def owner_address(self) -> str:
        """URL of the list of its owner's maps."""
        return self.addresses.list_of("owner", self.owner)

    @property
    def category_address(self) -> str:
        """URL of the list of maps in its category."""
        return self.addresses.list_of("category", self.category_id)

    @property
    def folder_address(self) -> str:
        """URL of the list of maps in its folder and the subfolders, empty without a folder."""
        return self.addresses.list_of("folder", self.folder) if self.folder else ""

    @property
    def is_of_system(self) -> bool:
        """Whether the owner is the system user, whom cards do not show."""
        return self.owner == SYSTEM_USER

    @property
    def is_uncategorised(self) -> bool:
        """Whether the map has no category."""
        return self.category == UNCATEGORISED

    @property
    def says_folder(self) -> bool:
        """Whether the folder adds information to the card."""
        return bool(self.folder_below) and not self.place and self.folder != self.category

    @property
    def folder_below(self) -> str:
        """The folder relative to the listed one; empty for the listed folder itself."""
        return _below(self.within, f"{self.folder}/").removesuffix("/")


def add_places(cards: Sequence[Card], within: str = "") -> None:
    """Set the listed folder of cards, and the file paths of those that share a title.

    Args:
        cards: the cards.
        within: the folder, empty for all maps.
    """
    titles = [normalize(one.title) for one in cards]
    counts = Counter(titles)
    for one, title in zip(cards, titles, strict=True):
        one.within = within
        if counts[title] > 1 and not one.place:
            one.place = breakable(_below(within, one.file))


def _below(folder: str, path: str) -> str:
    return path.removeprefix(f"{folder}/") if folder else path


def card(
    record: Record, addresses: Addresses, snippets: list[Snippet], marked_file: str = ""
) -> Card:
    """Build the card of a map, with the topics that match the search.

    Args:
        record: the map.
        addresses: builds URLs.
        snippets: the matching topics.
        marked_file: the path of its file with highlights as HTML, if it matches the search.
    """
    found: dict[str, Any] = orjson.loads(record.body)
    details = record.details
    edited = "" if details.edited is None else format_date(details.edited)
    public_id, title = found["ID"], found["Title"]
    return Card(
        id=public_id,
        title=title,
        description=found["Description"],
        address=addresses.map(public_id, title),
        addresses=addresses,
        owner=found["Owner"],
        category=found["Category"],
        category_id=found["CategoryID"],
        software=found["Software"],
        added=iso_date(found["DateAdded"]),
        date=found["DateAdded"][:10],
        views=int(found["Views"]),
        downloads=int(found["Downloads"]),
        thumbs_up=int(found["ThumbsUp"]),
        topics=[found_topic(snippet, public_id, title, addresses) for snippet in snippets],
        edited=iso_date(edited) if edited else "",
        edited_date=edited[:10],
        file=details.source,
        # ``snippets.marked_line`` escapes it, except for its highlights.
        place=breakable(Markup(marked_file)) if marked_file else NO_PLACE,  # noqa: S704
        folder=details.folder,
        size=found["Size"],
        topic_count=details.topics,
    )


def iso_date(date: str) -> str:
    """Format a date of a record as in RFC 3339."""
    return date.replace(" ", "T") + "Z"


def found_topic(snippet: Snippet, public_id: str, title: str, addresses: Addresses) -> FoundTopic:
    """Build a matching topic of a map from its snippet."""
    return FoundTopic(
        addresses.topic(public_id, title, snippet.id),
        snippet.path,
        # ``snippets.Snippet`` escapes both, except for its highlights.
        Markup(snippet.marked),  # noqa: S704
        Markup(snippet.note),  # noqa: S704
    )
