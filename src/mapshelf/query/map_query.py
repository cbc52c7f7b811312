"""Parse the query string of ``GET /maps`` into an immutable ``MapQuery``.

The parameters are rows of tables, used by the parser, the lists, the tests and the documentation.
To add a filter or an order, start with a row of ``FILTERS`` or of ``SORT_ORDERS``
(``sort_orders.py``). ARCHITECTURE.md lists the other files to change, under "To add a filter" and
"add a sort order".
"""

import hashlib
import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Final
from unicodedata import normalize
from urllib.parse import unquote

from mapshelf.errors import InvalidParameter
from mapshelf.model import LARGEST_ID, ListedMap, clean_path
from mapshelf.query.filter_words import split_filters
from mapshelf.query.sort_orders import ORDERS

DEFAULT_LIMIT: Final = 20
MAXIMUM_LIMIT: Final = 50
MAXIMUM_OFFSET: Final = 2**53
MAXIMUM_QUERY_LENGTH: Final = 500
"""Longest search text, in characters."""

_PLAIN: Final = re.compile(r"[A-Za-z0-9_.~=&-]*")
"""A query string in which nothing is encoded."""

DEFAULT_ORDER: Final = "date"
"""The order of a list that is neither ordered by the client nor searched."""


@dataclass(frozen=True, slots=True)
class MapQuery:
    """A valid request for a list of maps.

    Attributes:
        text: what to search for, empty to list; without the ``words``.
        words: the words of the text that are filters (``filter_words.py``).
        title_only: whether the text is searched only in titles.
        order: a value of ``ORDERS``, ``None`` for relevance.
        filters: name of a row of ``FILTERS`` and the key a map must have there, for each filter;
            with ``NOT`` before the name, must not have.
        limit: maximum number of maps.
        offset: maps to skip.
        given: the parameters that select and order, as the client gave them, for links.
    """

    text: str = ""
    order: str | None = DEFAULT_ORDER
    filters: tuple[tuple[str, int], ...] = ()
    limit: int = DEFAULT_LIMIT
    offset: int = 0
    given: tuple[tuple[str, str], ...] = ()
    words: str = ""
    title_only: bool = False


@dataclass(frozen=True, slots=True)
class Filter:
    """A parameter that keeps the maps with a certain value.

    Attributes:
        name: the query parameter.
        description: which maps it keeps, for the OpenAPI document.
        schema: the JSON Schema of its values, likewise.
        parse: turns its text into the key to look for, ``None`` to keep every map.
        key: returns the key of a map, a number of 64 bits; ignored if ``names`` is set.
        names: for a filter with several values per map, such as tags: returns those of a map, as
            people write them. Snapshots store and count these names.
        name_key: returns the key of a name.
        nested: whether each of the names of a map is within the one before.
    """

    name: str
    description: str
    schema: Mapping[str, object]
    parse: Callable[[str], int | None]
    key: Callable[[ListedMap], int] = lambda _: 0
    names: Callable[[ListedMap], Sequence[str]] | None = None
    name_key: Callable[[str], int] = lambda _: 0
    nested: bool = False

    def keys(self, found: ListedMap) -> tuple[int, ...]:
        """Return all keys of a map."""
        if self.names is None:
            return (self.key(found),)
        return tuple(map(self.name_key, self.names(found)))


def parse_query(query_string: bytes) -> MapQuery:
    """Parse the query string of ``GET /maps`` as the client sent it.

    Raises:
        InvalidParameter: a value the interface does not offer; the message is for the client.
    """
    values = read_parameters(query_string, PARAMETERS)
    text, words = _text(values.get("query", "")), ""
    filters: tuple[tuple[str, int], ...] = ()
    if ":" in text:
        text, words, filters = split_filters(text, {"folder": folder_key, "tag": tag_key})
    return MapQuery(
        text=text,
        words=words,
        title_only=_is_on("title_only", values),
        order=_order(values.get("order_by"), text),
        filters=tuple(dict.fromkeys((*_filters(values), *filters))),
        limit=_limit(values.get("limit")),
        offset=_offset(values.get("offset")),
        given=tuple([item for item in values.items() if item[0] not in ("limit", "offset")]),
    )


def owner_key(name: str) -> int:
    """Return the key by which maps of an owner are found, the same for any case of ``name``."""
    # As in ``model.name_key``, repeated here so that a request with this filter does not run
    # through one more file (``scripts/request_path.py``).
    return _hash(name.strip().casefold())


def folder_key(path: str) -> int:
    """Return the key of the maps in a folder and below it."""
    return _hash(normalize("NFC", clean_path(path)))


def tag_key(tag: str) -> int:
    """Return the key of the maps with a tag, the same for any case of it."""
    return _hash(normalize("NFC", " ".join(tag.split())).casefold())


@lru_cache(1 << 9)  # few, because clients may send any text of up to 8 KB
def _hash(text: str) -> int:
    digest = hashlib.blake2b(text.encode(errors="replace"), digest_size=8).digest()
    return int.from_bytes(digest, "little")


def language_key(code: str) -> int:
    """Return the key of the maps in a language: its code, read as a number."""
    text = code.strip().lower().encode(errors="replace")
    return int.from_bytes(text) if len(text) <= 8 else UNKNOWN_ID


def language_of(key: int) -> str:
    """Return the code of the language with a key that a map has."""
    return key.to_bytes(8).lstrip(b"\0").decode(errors="replace")


def read_parameters(query_string: bytes, known: Container[str]) -> dict[str, str]:
    """Return the parameters of a query string that are ``known`` and have a value.

    Raises:
        InvalidParameter: one is given twice, is not UTF-8 or contains a NUL; the message is for
            the client.
    """
    if not query_string:
        return {}
    values: dict[str, str] = {}
    seen = set()
    for name, value in _pairs(query_string):
        if name not in known:
            continue
        if name in seen:
            raise InvalidParameter(f"The {name} parameter is given twice.")
        seen.add(name)
        if "\0" in value:
            raise InvalidParameter(f"The {name} value must not contain a NUL character.")
        if value:
            values[name] = value
    return values


def _pairs(query_string: bytes) -> Iterable[tuple[str, str]]:
    """Return the names and values in a query string.

    Raises:
        InvalidParameter: it is not UTF-8.
    """
    try:
        text = query_string.decode()
        parts = [part.partition("=") for part in text.split("&") if part]
        if _PLAIN.fullmatch(text):  # as most are: the same, in a fraction of the time
            return [(name, value) for name, _, value in parts]
        texts = [[unquote(one.replace("+", " "), errors="strict") for one in row] for row in parts]
        return [(name, value) for name, _, value in texts]
    except UnicodeDecodeError as error:
        raise InvalidParameter("The parameters must be UTF-8 text.") from error


def _text(value: str) -> str:
    if len(value) > MAXIMUM_QUERY_LENGTH:
        raise InvalidParameter(
            f"The query value must be at most {MAXIMUM_QUERY_LENGTH} characters long."
        )
    return value.strip()


def _order(value: str | None, text: str) -> str | None:
    if value is None:
        return None if text else DEFAULT_ORDER
    if value not in ORDERS:
        raise InvalidParameter(f"The order_by value must be one of {', '.join(ORDERS)}.")
    return value


def _limit(value: str | None) -> int:
    if value is None:
        return DEFAULT_LIMIT
    limit = number_up_to(value, MAXIMUM_LIMIT + 1)
    if limit is None or limit > MAXIMUM_LIMIT:
        raise InvalidParameter(f"The limit value must be between 0-{MAXIMUM_LIMIT}.")
    return limit


def _offset(value: str | None) -> int:
    if value is None:
        return 0
    offset = number_up_to(value, MAXIMUM_OFFSET + 1)
    if offset is None or offset > MAXIMUM_OFFSET:
        raise InvalidParameter(
            f"The offset value must be a whole number between 0 and {MAXIMUM_OFFSET}."
        )
    return offset


def _filters(values: dict[str, str]) -> tuple[tuple[str, int], ...]:
    given = [row for row in FILTERS if row.name in values]
    keys = [(row.name, row.parse(values[row.name])) for row in given]
    return tuple([(name, key) for name, key in keys if key is not None])


def _is_on(name: str, values: dict[str, str]) -> bool:
    return name in values and _is_true(name, values[name])


def number_up_to(value: str, most: int) -> int | None:
    """Return the number that ``value`` spells in ASCII digits, ``None`` if it spells none.

    A number above ``most`` becomes ``most``: beyond that, the exact value makes no difference.
    """
    if not (value.isascii() and value.isdigit()):
        return None
    significant = value.lstrip("0")
    # Python refuses to read numbers of thousands of digits.
    if len(significant) > len(str(most)):
        return most
    return min(int(significant or "0"), most)


def _id(name: str) -> Callable[[str], int]:
    def parse(value: str) -> int:
        number = number_up_to(value, UNKNOWN_ID)
        if number is None:
            raise InvalidParameter(f"The {name} value must be a whole number.")
        return number

    return parse


def _is_true(name: str, value: str) -> bool:
    match value.lower():
        case "true" | "1":
            return True
        case "false" | "0":
            return False
    raise InvalidParameter(f"The {name} value must be true or false.")


def _only(name: str) -> Callable[[str], int | None]:
    return lambda value: 1 if _is_true(name, value) else None


def _size(value: str) -> int:
    try:
        return tuple(SIZES).index(value.lower())
    except ValueError as error:
        raise InvalidParameter(f"The size value must be one of {', '.join(SIZES)}.") from error


def size_of_map(topics: int) -> int:
    """Return the place in ``SIZES`` of a map with this many topics; ``NO_ID`` if it has none."""
    if topics == 0:
        return NO_ID
    return sum(topics > most for most in (*SIZES.values(),)[:-1])


def year_of(milliseconds: int) -> int:
    """Return the year of a time in milliseconds since 1970-01-01 UTC."""
    return (_EPOCH + timedelta(milliseconds=milliseconds)).year


UNKNOWN_ID: Final = 2**63
"""The key of every id that is too large to exist."""

NO_ID: Final = UNKNOWN_ID + 1
"""The key of a map that has no such id: no request asks for it."""

_EPOCH: Final = datetime(1970, 1, 1)  # UTC throughout

SIZES: Final = {"small": 30, "medium": 100, "large": 400, "huge": LARGEST_ID}
"""The sizes of maps, each with the most topics that such a map has."""

ID_SCHEMA: Final = {"type": "integer", "minimum": 0}
TEXT_SCHEMA: Final = {"type": "string", "pattern": r"^[^\u0000]*$"}
"""JSON Schemas of the values of parameters."""

FILTERS: Final = (
    Filter(
        name="category",
        description="Only maps of the category with this id.",
        schema=ID_SCHEMA,
        parse=_id("category"),
        key=lambda found: found.map.category_id,
    ),
    Filter(
        name="software",
        description="Only maps made with the program that has this id.",
        schema=ID_SCHEMA,
        parse=_id("software"),
        key=lambda found: NO_ID if found.map.software_id is None else found.map.software_id,
    ),
    Filter(
        name="owner",
        description="Only maps of this user. The complete username; case is ignored.",
        schema=TEXT_SCHEMA,
        parse=owner_key,
        key=lambda found: owner_key(found.map.owner),
    ),
    Filter(
        name="only_templates",
        description="Only maps that are templates. `1` and `0` mean `true` and `false`; case is "
        "ignored.",
        schema={"type": "boolean", "default": False},
        parse=_only("only_templates"),
        key=lambda found: int(found.map.template),
    ),
    Filter(
        name="folder",
        description="Only maps whose files are in this folder or below it. The path below the "
        "imported folder, as `GET /folders` has it.",
        schema=TEXT_SCHEMA,
        parse=folder_key,
        names=lambda found: found.folders,
        name_key=folder_key,
        nested=True,
    ),
    Filter(
        name="tag",
        description="Only maps with this tag. The complete tag; case is ignored.",
        schema=TEXT_SCHEMA,
        parse=tag_key,
        names=lambda found: found.map.tags,
        name_key=tag_key,
    ),
    Filter(
        name="language",
        description="Only maps in this language, an ISO 639-1 code such as `de`.",
        schema=TEXT_SCHEMA,
        parse=language_key,
        key=lambda found: language_key(found.language) if found.language else NO_ID,
    ),
    Filter(
        name="year",
        description="Only maps that were added in this year.",
        schema=ID_SCHEMA,
        parse=_id("year"),
        key=lambda found: year_of(found.map.date_added),
    ),
    Filter(
        name="size",
        description="Only maps of this size: `small` (up to 30 topics), `medium` (31 to 100), "
        "`large` (101 to 400) or `huge` (more).",
        schema={"type": "string", "enum": list(SIZES)},
        parse=_size,
        key=lambda found: size_of_map(found.topics),
    ),
    Filter(
        name="with_notes",
        description="Only maps in which a topic has a note.",
        schema={"type": "boolean", "default": False},
        parse=_only("with_notes"),
        key=lambda found: int(found.notes),
    ),
    Filter(
        name="with_tasks",
        description="Only maps in which a topic is a task.",
        schema={"type": "boolean", "default": False},
        parse=_only("with_tasks"),
        key=lambda found: int(found.tasks),
    ),
)

PARAMETERS: Final = frozenset(
    ("query", "title_only", "limit", "offset", "order_by", *(row.name for row in FILTERS))
)
