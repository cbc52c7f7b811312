"""What the catalogue holds: maps, the files that maps were read from, and changes.

Everything here is an immutable value.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from typing import Final, NamedTuple

MAP_KEYS: Final = (
    "File_ID",
    "ID",
    "Title",
    "Description",
    "ThumbsUp",
    "ThumbsDown",
    "Views",
    "Downloads",
    "Thumbnail",
    "URL",
    "Category",
    "CategoryID",
    "DateAdded",
    "Owner",
    "Size",
    "Copyright",
    "LicenceTypeID",
    "Software",
)
"""The keys of a Map object, in the order they are sent (``docs/api.md``)."""

USER_KEYS: Final = ("UserName", "TotalMaps", "DateRegistered")
"""The keys of a User object, in the order they are sent (``docs/api.md``)."""

SYSTEM_USER: Final = "system"
"""Owner of the maps that were imported without an owner. Nobody can sign in as this user."""

UNCATEGORISED: Final = "Uncategorised"
"""Category of the maps for which none is known."""


LARGEST_ID: Final = 2**53
"""The largest id: programs that read numbers as floating point confuse larger ones."""

LARGEST_COUNT: Final = 2**63 - 1
"""The largest value of a map's counters."""

HOUR: Final = 3_600_000
DAY: Final = 24 * HOUR
"""In milliseconds."""

_PUBLIC_ID: Final = re.compile("[0-9A-Za-z]{1,32}")

USER_NAME_LENGTH: Final = 100
"""Maximum number of characters of a username."""


def is_public_id(text: str) -> bool:
    """Return whether ``text`` can be the public id of a map: up to 32 letters and digits."""
    return _PUBLIC_ID.fullmatch(text) is not None


def is_user_name(name: str) -> bool:
    """Return whether ``name`` can be a username: a printable line without outer spaces."""
    return 0 < len(name) <= USER_NAME_LENGTH and name == name.strip() and name.isprintable()


def name_key(name: str) -> str:
    """Return the form in which names are compared: names that differ only in case are equal."""
    return name.strip().casefold()


@dataclass(frozen=True, slots=True)
class Named:
    """A row of one of the small tables: a category, a software, a licence type."""

    id: int
    name: str


class Visibility(StrEnum):
    """Who sees a map."""

    PUBLISHED = "published"
    """Everybody who may see the catalogue; it is in lists and found by searches."""

    UNLISTED = "unlisted"
    """The same people, if they have its address; it is in no list."""

    PRIVATE = "private"
    """Its owner and administrators."""

    REMOVED = "removed"
    """Nobody: somebody has removed it, which can be undone for a while."""


@dataclass(frozen=True, slots=True)
class Map:
    """A map as the store keeps it.

    Attributes:
        file_id: increasing integer, the key of the map in the catalogue.
        id: public identifier, letters and digits; never given to another map.
        title: title, one line.
        description: free text.
        thumbs_up: positive votes.
        thumbs_down: negative votes.
        views: page views.
        downloads: downloads.
        thumbnail: absolute URL of another picture, or ``None`` for the one Mapshelf serves.
        url: absolute URL of another page, or ``None`` for the one Mapshelf serves.
        category_id: id of its category.
        category: name of its category. Stored with the map, because an imported record may use
            another name for a category than this catalogue, and must be exported unchanged.
        date_added: milliseconds since 1970-01-01 UTC.
        owner: username of the owner.
        size: size of the map file in hundredths of a kilobyte (1024 bytes), ``None`` if unknown.
        copyright: copyright or licence statement, may be empty.
        licence_type_id: id of a licence type, ``None`` if unknown.
        software_id: id of the program that made it, ``None`` if unknown.
        software: name of that program, empty if unknown.
        template: whether it is a template.
        tags: of its file, or what people tagged it with instead, each as
            ``publishing.parse_tags`` returns it.
        visibility: who sees it.
        set_by_people: what people set (keys of ``publishing.SETTABLE``): imports leave it alone.
    """

    file_id: int
    id: str
    title: str
    description: str
    thumbs_up: int
    thumbs_down: int
    views: int
    downloads: int
    thumbnail: str | None
    url: str | None
    category_id: int
    category: str
    date_added: int
    owner: str
    size: int | None
    copyright: str
    licence_type_id: int | None
    software_id: int | None
    software: str
    template: bool
    tags: tuple[str, ...] = ()
    visibility: Visibility = Visibility.PUBLISHED
    set_by_people: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Source:
    """The file a map was read from, to recognise it at the next import.

    Attributes:
        path: absolute path, in the bytes of the file system (``os.fsencode``).
        name: path below the folder that was imported, as text: people search for it.
        size: bytes.
        modified: modification time in nanoseconds since 1970-01-01 UTC.
        digest: SHA-256 of the content.
    """

    path: bytes
    name: str
    size: int
    modified: int
    digest: bytes


@dataclass(frozen=True, slots=True)
class KeptFile:
    """What is known of the file a map was read from, without its content.

    Attributes:
        name: its name without folders, empty if it is no longer known.
        digest: SHA-256 of its content.
        size: bytes of its content, zlib-compressed.
    """

    name: str
    digest: bytes
    size: int


@dataclass(frozen=True, slots=True)
class OriginalFile:
    """The file a map was read from, as it was then.

    Attributes:
        name: its name without folders, empty if it is no longer known.
        digest: SHA-256 of its content.
        content: its content, zlib-compressed.
    """

    name: str
    digest: bytes
    content: bytes


class MapLink(NamedTuple):
    """A link of a topic to a file that may be a map.

    Attributes:
        topic: id of the topic.
        target: the link, as the outline has it.
        name: the name of the file, as ``formats.map_links.name_of_file`` writes it.
    """

    topic: str
    target: str
    name: str


class LinkOfMap(NamedTuple):
    """A link to a file that may be a map, with the map it is in.

    Attributes:
        file_id: the map.
        map: its public id.
        topic: see ``MapLink``.
        target: see ``MapLink``.
    """

    file_id: int
    map: str
    topic: str
    target: str


class MapFile(NamedTuple):
    """Where a map was read from: a path (``Source.path``), and the public id of the map."""

    path: bytes
    map: str


@dataclass(frozen=True, slots=True)
class MapDraft:
    """What an import knows about a map; ``None`` means that it does not set that field.

    A new map gets the default for such a field; an existing map keeps its value. The fields are
    those of ``Map``, except:

    Attributes:
        software: name of the program; the store finds or assigns its id.
        source: the file the map was read from. It identifies the map if ``id`` is ``None``.
        outline: the topics, as returned by ``outline_codec.encode_outline``.
        content: the content of the file ``source``, zlib-compressed.
        images: the pictures in its topics, all of them, by ``Image.digest``: the bytes as they are
            in the file, untrusted.
        links: what ``formats.map_links.map_links`` finds in ``outline``; kept with it.
    """

    id: str | None = None
    file_id: int | None = None
    title: str | None = None
    description: str | None = None
    thumbs_up: int | None = None
    thumbs_down: int | None = None
    views: int | None = None
    downloads: int | None = None
    thumbnail: str | None = None
    url: str | None = None
    category_id: int | None = None
    category: str | None = None
    date_added: int | None = None
    owner: str | None = None
    size: int | None = None
    copyright: str | None = None
    licence_type_id: int | None = None
    software: str | None = None
    template: bool | None = None
    tags: tuple[str, ...] | None = None
    visibility: Visibility | None = None
    source: Source | None = None
    outline: bytes | None = None
    content: bytes | None = None
    images: Mapping[str, bytes] | None = None
    links: Sequence[MapLink] = ()


@dataclass(frozen=True, slots=True)
class OutdatedMap:
    """A map whose outline an older version made, which has to be read anew.

    Attributes:
        file_id: the map.
        path: of the file it was read from (``Source.path``), empty if that is not known.
    """

    file_id: int
    path: bytes


@dataclass(frozen=True, slots=True)
class ReparsedMap:
    """What reading a map anew gave.

    Attributes:
        file_id: the map.
        digest: SHA-256 of the file that was read.
        outline: see ``MapDraft``; ``None`` if the file cannot be read, or is not kept: then the map
            stays as it is, and is not tried again.
        images: see ``MapDraft``.
        links: see ``MapDraft``.
        tags: those of the file, for a map that has none.
    """

    file_id: int
    digest: bytes = b""
    outline: bytes | None = None
    images: Mapping[str, bytes] = field(default_factory=dict)
    links: Sequence[MapLink] = ()
    tags: tuple[str, ...] = ()


class Verdict(Enum):
    """What happened to a draft."""

    ADDED = "added"
    CHANGED = "changed"
    UNCHANGED = "unchanged"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The verdict on a draft, with the map's public id, or the reason it was refused."""

    verdict: Verdict
    id: str = ""
    reason: str = ""


class VisitKind(Enum):
    """What is counted."""

    VIEW = "view"
    DOWNLOAD = "download"


@dataclass(frozen=True, slots=True)
class Visit:
    """A view or download of a map.

    Attributes:
        key: identifies the visit; visits with the same key count once.
        file_id: the map.
        kind: view or download.
        hour: when it was, in hours since 1970-01-01 UTC.
    """

    key: bytes
    file_id: int
    kind: VisitKind
    hour: int


@dataclass(frozen=True, slots=True)
class Change:
    """An entry of the change feed: the present state of a published map, or that there is none.

    Attributes:
        revision: position in the feed; a later change has a higher one.
        file_id: the map.
        map: its present state, ``None`` if it was deleted or is not published (any longer).
        outline: its topics, as returned by ``outline_codec.encode_outline``, ``None`` if it has
            none.
        source: name of the file it was read from (``Source.name``), empty if there is none.
        modified: when that file was modified, or uploaded, in milliseconds since 1970-01-01 UTC;
            ``None`` if there is none.
    """

    revision: int
    file_id: int
    map: Map | None
    outline: bytes | None
    source: str = ""
    modified: int | None = field(default=None, compare=False)


class Origin(NamedTuple):
    """What is known of the file of a map besides its content: see ``Change``."""

    source: str = ""
    modified: int | None = None
