"""Catalogue types: maps, their source files, import drafts, visits and changes.

All types are immutable.
"""

import re
import unicodedata
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
"""Owner of maps imported without one. It is not possible to sign in as this user."""

UNCATEGORISED: Final = "Uncategorised"
"""Category of maps without a known one."""

LARGEST_ID: Final = 2**53
"""The largest id. Larger integers lose precision in programs that parse numbers as doubles."""

LARGEST_COUNT: Final = 2**63 - 1
"""The largest value of a map's counters."""

_PUBLIC_ID: Final = re.compile("[0-9A-Za-z]{1,32}")

USER_NAME_LENGTH: Final = 100
"""Maximum number of characters of a username."""


def is_public_id(text: str) -> bool:
    """Return whether ``text`` can be the public id of a map: up to 32 letters and digits."""
    return _PUBLIC_ID.fullmatch(text) is not None


def is_user_name(name: str) -> bool:
    """Return whether ``name`` is a valid username: one printable line, no surrounding spaces."""
    return 0 < len(name) <= USER_NAME_LENGTH and name == name.strip() and name.isprintable()


def composed_name(name: str) -> str:
    """Return a username as it is stored, in the Unicode form NFC: keyboards and files differ."""
    return unicodedata.normalize("NFC", name)


def name_key(name: str) -> str:
    """Return the key for comparing names without regard to case."""
    return name.strip().casefold()


def user_keys(name: str) -> list[str]:
    """Return the keys of the users who may be meant by a name, the likeliest first.

    Names are stored in NFC, and found by any Unicode form; older accounts by the form they have.
    """
    return list(dict.fromkeys((name_key(name), name_key(composed_name(name)))))


@dataclass(frozen=True, slots=True)
class Named:
    """A row of a lookup table: category, software or licence type."""

    id: int
    name: str


class Visibility(StrEnum):
    """Who can see a map."""

    PUBLISHED = "published"
    """Everyone with access to the catalogue; the map is listed and searchable."""

    UNLISTED = "unlisted"
    """Everyone with access who knows the URL; the map is not listed."""

    PRIVATE = "private"
    """The owner and administrators."""

    REMOVED = "removed"
    """No one: the map was removed; this can be undone for a limited time."""


@dataclass(frozen=True, slots=True)
class Map:
    """A map in the store.

    Attributes:
        file_id: increasing integer, the key of the map in the catalogue.
        id: public identifier, letters and digits; never reused.
        title: title, one line.
        description: free text.
        thumbs_up: positive votes.
        thumbs_down: negative votes.
        views: page views.
        downloads: downloads.
        thumbnail: absolute URL of an external thumbnail, ``None`` for the one Mapshelf serves.
        url: absolute URL of an external page, ``None`` for the one Mapshelf serves.
        category_id: id of its category.
        category: name of its category. Stored with the map, because an imported record may use
            another name for a category than this catalogue, and must be exported unchanged.
        date_added: milliseconds since 1970-01-01 UTC.
        owner: username of the owner.
        size: size of the map file in hundredths of a kilobyte (1024 bytes), ``None`` if unknown.
        copyright: copyright or licence statement, may be empty.
        licence_type_id: id of a licence type, ``None`` if unknown.
        software_id: id of the program that created it, ``None`` if unknown.
        software: name of that program, empty if unknown.
        template: whether it is a template.
        tags: tags from the file, or those set by users instead, as ``publishing.parse_tags``
            returns them.
        visibility: who can see it.
        set_by_people: fields set by users (keys of ``publishing.SETTABLE``), which imports do not
            overwrite.
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


GONE: Final = -2
"""Modification time of a source whose file is missing: no file has it."""


@dataclass(frozen=True, slots=True)
class Source:
    """The file a map was read from, used to recognise the map at the next import.

    Attributes:
        path: absolute path in file system encoding (``os.fsencode``).
        name: path relative to the imported folder, as searchable text.
        size: bytes.
        modified: modification time in nanoseconds since 1970-01-01 UTC; ``GONE`` if the file is
            missing.
        digest: SHA-256 of the content.
    """

    path: bytes
    name: str
    size: int
    modified: int
    digest: bytes

    @property
    def is_gone(self) -> bool:
        """Whether the file was missing when its folder was last scanned."""
        return self.modified == GONE


class MapLink(NamedTuple):
    """A link from a topic to a file that may be a map.

    Attributes:
        topic: id of the topic.
        target: the link, as the outline has it.
        name: the name of the file, as ``formats.map_links.name_of_file`` writes it.
    """

    topic: str
    target: str
    name: str


class LinkOfMap(NamedTuple):
    """A link to a file that may be a map, and the map that contains it.

    Attributes:
        file_id: key of the map that contains it.
        map: public id of that map.
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
    """The fields of a map to import; ``None`` leaves a field unset.

    A new map gets the default for such a field; an existing map keeps its value. The fields are
    those of ``Map``, except:

    Attributes:
        software: name of the program; the store finds or assigns its id.
        initial_visibility: visibility of a new map, unless ``visibility`` is given.
        source: the file the map was read from. It identifies the map if ``id`` is ``None``.
        is_known: whether ``source`` had a map when it was read. If another process has moved that
            since, the draft is refused.
        folder: path of the imported folder that ``source`` is in, with a slash at the end, if the
            file was not known at this path before, or has another content now.
        other_folders: paths of the other folders that are imported together with it, likewise.
        other_places: further paths that count like that of ``source`` if its file is new: of the
            same document in another form.
        uncertain: whether ``source`` may be the file of another map, or a conflict copy of it,
            which is not published.
        outline: the topics, as returned by ``outline_codec.encode_outline``.
        content: the content of the file ``source``, zlib-compressed.
        images: all images in its topics, by ``Image.digest``: the untrusted bytes from the file.
        links: the links that ``formats.map_links.map_links`` finds in ``outline``.
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
    initial_visibility: Visibility | None = None
    source: Source | None = None
    is_known: bool = False
    folder: bytes | None = None
    other_folders: tuple[bytes, ...] = ()
    other_places: tuple[bytes, ...] = ()
    uncertain: bool = False
    outline: bytes | None = None
    content: bytes | None = None
    images: Mapping[str, bytes] | None = None
    links: Sequence[MapLink] = ()


@dataclass(frozen=True, slots=True)
class OutdatedMap:
    """A map whose outline comes from an older version and must be parsed again.

    Attributes:
        file_id: the map.
        path: path of its source file (``Source.path``), empty if unknown.
    """

    file_id: int
    path: bytes


@dataclass(frozen=True, slots=True)
class ReparsedMap:
    """The result of parsing a map again.

    Attributes:
        file_id: the map.
        digest: SHA-256 of the file that was read.
        outline: see ``MapDraft``; ``None`` if the file cannot be read or is not stored. The map
            then stays unchanged and is not retried.
        images: see ``MapDraft``.
        links: see ``MapDraft``.
        tags: tags from the file, applied only if the map has none.
    """

    file_id: int
    digest: bytes = b""
    outline: bytes | None = None
    images: Mapping[str, bytes] = field(default_factory=dict)
    links: Sequence[MapLink] = ()
    tags: tuple[str, ...] = ()


class Verdict(Enum):
    """The result of importing a draft."""

    ADDED = "added"
    CHANGED = "changed"
    UNCHANGED = "unchanged"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The verdict on a draft, with the map's public id or the reason for refusal.

    ``unpublished`` is whether a new or a published map inherited that it is not published.
    """

    verdict: Verdict
    id: str = ""
    reason: str = ""
    unpublished: bool = False


class VisitKind(Enum):
    """The kinds of visits that are counted."""

    VIEW = "view"
    DOWNLOAD = "download"


@dataclass(frozen=True, slots=True)
class Visit:
    """A view or download of a map.

    Attributes:
        key: deduplication key; visits with the same key count once.
        file_id: the map.
        kind: view or download.
        hour: time of the visit, in hours since 1970-01-01 UTC.
    """

    key: bytes
    file_id: int
    kind: VisitKind
    hour: int


@dataclass(frozen=True, slots=True)
class Change:
    """An entry of the change feed: the current state of a map, or its removal.

    Attributes:
        revision: position in the feed; a later change has a higher one.
        file_id: the map.
        map: current state, ``None`` if the map was deleted or is not published.
        outline: its topics, as returned by ``outline_codec.encode_outline``, ``None`` if it has
            none.
        source: name of the file it was read from (``Source.name``), empty if there is none.
        modified: when that file was modified or uploaded, in milliseconds since 1970-01-01 UTC;
            ``None`` without a file.
    """

    revision: int
    file_id: int
    map: Map | None
    outline: bytes | None
    source: str = ""
    modified: int | None = field(default=None, compare=False)


class Origin(NamedTuple):
    """Metadata of a map's source file; see ``Change``."""

    source: str = ""
    modified: int | None = None
