"""Computes in the simplest way which maps a list or search must return.

It sorts, filters and counts without any code of Mapshelf: exact arithmetic for the rating,
Python's ``in`` for the filters. The maps and requests of these tests are here, too.
"""

import random
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal, localcontext
from functools import cache
from typing import Any, Final
from urllib.parse import urlencode

import pytest
from hypothesis import strategies as st

from mapshelf.formats.outline_codec import decode_outline, encode_outline
from mapshelf.model import MapDraft, Outline, Source, Task, Topic, parse_tags, sheets_of
from tests.harness import Service

Asked = dict[str, Any]

# -- expected results -----------------------------------------------------------------------


@cache
def folded(text: str) -> str:
    """Return ``text`` without case and accents, for the letters the tests use."""
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
    return "".join(one for one in decomposed if unicodedata.category(one) != "Mn")


def wilson(up: int, down: int) -> Decimal:
    """Return the lower end of the 95 % Wilson interval, to fifty digits."""
    with localcontext() as context:
        context.prec = 50
        z, n = Decimal("1.959963984540054"), Decimal(up + down)
        if up == 0:
            return Decimal(0)
        centre = up + z * z / 2
        margin = z * (Decimal(up) * down / n + z * z / 4).sqrt()
        return (centre - margin) / (n + z * z)


def number(value: int | None) -> int:
    assert value is not None
    return value


ORDERS: Final[dict[str, Callable[[MapDraft], Any]]] = {
    "alpha": lambda m: (folded(m.title or ""), m.title, number(m.file_id)),
    "downloads": lambda m: (-number(m.downloads), -number(m.file_id)),
    "views": lambda m: (-number(m.views), -number(m.file_id)),
    "date": lambda m: (-number(m.date_added), -number(m.file_id)),
    "edited": lambda m: (-edited(m), -number(m.file_id)),
    "rating": lambda m: (
        -wilson(number(m.thumbs_up), number(m.thumbs_down)),
        -number(m.file_id),
    ),
}

SOFTWARE_IDS: Final = {"FreeMind": 1, "XMind": 3, "VYM": 11, "": None}


KNOWN: Final = frozenset(
    {
        *("category", "software", "owner", "only_templates", "folder", "tag", "language", "year"),
        *("size", "with_notes", "with_tasks", "query", "title_only"),
        *("order_by", "limit", "offset"),
    }
)
"""The parameters that ``passes`` knows; the last three do not affect which maps pass."""


def passes(found: MapDraft, asked: Asked) -> bool:
    """Return whether a map passes all filters. A new filter needs a line here and in ``KNOWN``."""
    if not asked.keys() <= KNOWN:
        pytest.fail(f"oracle.passes does not know the filter {', '.join(asked.keys() - KNOWN)}")
    return (
        asked.get("category") in (None, found.category_id)
        and asked.get("software") in (None, SOFTWARE_IDS[found.software or ""])
        and asked.get("owner", found.owner or "").lower() == (found.owner or "").lower()
        and (asked.get("only_templates") != "true" or found.template is True)
        and is_below(folder_of(found), asked.get("folder", "").strip("/"))
        and (
            "tag" not in asked or asked["tag"].lower() in [one.lower() for one in found.tags or ()]
        )
        and asked.get("language", "").lower() in ("", outline(found).language)
        and asked.get("year") in (None, year_of(number(found.date_added)))
        and asked.get("size") in (None, size_of(outline(found)))
        and (asked.get("with_notes") != "true" or any(t.note for t in topics(found)))
        and (asked.get("with_tasks") != "true" or any(t.task for t in topics(found)))
        and all(
            matches(found, in_title(word) if asked.get("title_only") == "true" else word, last)
            for word, last in words_of(asked.get("query", ""))
        )
    )


def in_title(word: str) -> str:
    """Return a search word as one that is searched for only in titles."""
    sign, rest = word[: word.startswith("-")], word.removeprefix("-")
    return word if ":" in rest else f"{sign}title:{rest}"


def folder_of(found: MapDraft) -> str:
    """Return the folder of a map, empty if it is in none."""
    assert found.source
    return found.source.name.rpartition("/")[0]


def is_below(folder: str, wanted: str) -> bool:
    return not wanted or folder == wanted or folder.startswith(wanted + "/")


@cache
def decoded(encoded: bytes) -> Outline:
    return decode_outline(encoded)


def outline(found: MapDraft) -> Outline:
    assert found.outline
    return decoded(found.outline)


def topics(found: MapDraft) -> list[Topic]:
    return [topic for _, topic in outline(found).topics()]


def size_of(outline: Outline) -> str:
    count = len(list(outline.topics()))
    return "small" if count <= 30 else "medium" if count <= 100 else "large"


def year_of(milliseconds: int) -> int:
    return (datetime(1970, 1, 1) + timedelta(milliseconds=milliseconds)).year


def edited(found: MapDraft) -> int:
    """Return when a map was edited: from its outline, or else from the time of its file."""
    assert found.source
    said = outline(found).modified
    return found.source.modified // 10**6 if said is None else said


def words_of(text: str) -> Iterator[tuple[str, bool]]:
    """Yield each word of a search text, and whether it is the last to be searched for."""
    filters = re.compile("-?(tag|folder):.")
    words = sorted(text.split(), key=lambda word: filters.match(word) is None)
    return ((word, place == len(words) - 1) for place, word in enumerate(words))


def matches(found: MapDraft, word: str, last: bool) -> bool:
    fields = (found.title, found.description, found.owner, found.category)
    held = folded(" ".join(field or "" for field in fields)).split()
    held += folded(folder_of(found).replace("/", " ")).split()
    if word.startswith("-title:"):
        return word[7:] not in folded(found.title or "").split()
    if word.startswith(("tag:", "folder:", "-")):
        sign, (name, colon, value) = word.startswith("-"), word.lstrip("-").partition(":")
        if name == "tag" and colon:
            return (value in [folded(tag) for tag in found.tags or ()]) != sign
        if name == "folder" and colon:
            return is_below(folder_of(found), value) != sign
    if word.startswith("title:"):
        held, word = folded(found.title or "").split(), word[6:]
    if word.startswith("-"):
        return word[1:] not in held
    return any(one.startswith(word) if last else one == word for one in held)


def expected(drafts: list[MapDraft], asked: Asked) -> tuple[int, list[int]]:
    """Return how many maps must be found, and the File_IDs of the page."""
    kept = sorted((one for one in drafts if passes(one, asked)), key=ORDERS[asked["order_by"]])
    start = asked.get("offset", 0)
    page = kept[start : start + asked.get("limit", 20)]
    return len(kept), [number(one.file_id) for one in page]


Counts = dict[str, dict[Any, int]]


def counted(drafts: list[MapDraft], asked: Asked) -> Counts:
    """Return for each facet how many of the maps that must be found have each value."""
    counts: dict[str, Counter[Any]] = {name: Counter() for name in FACETS}
    typed = re.findall(r"(?:^| )folder:(\S+)", asked.get("query", ""))
    within = asked.get("folder", "").strip("/") or "".join(typed[:1])
    for found in drafts:
        if passes(found, asked):
            for name, values in FACETS.items():
                counts[name].update(values(found, within))
    return {name: dict(values) for name, values in counts.items()}


def next_folder(found: MapDraft, within: str) -> list[str]:
    """Return the subfolder of ``within`` that contains a map, if there is one."""
    steps, above = folder_of(found).split("/"), within.split("/") if within else []
    below = steps[: len(above) + 1]
    return ["/".join(below)] if len(below) > len(above) and below != [""] else []


FACETS: Final[dict[str, Callable[[MapDraft, str], list[Any]]]] = {
    "category": lambda m, _: [m.category_id],
    "software": lambda m, _: [one for one in [SOFTWARE_IDS[m.software or ""]] if one is not None],
    "owner": lambda m, _: [m.owner],
    "year": lambda m, _: [f"{year_of(number(m.date_added)):04d}"],
    "folder": next_folder,
    "tag": lambda m, _: list(m.tags or ()),
    "language": lambda m, _: [one for one in [outline(m).language] if one],
    "size": lambda m, _: [size_of(outline(m))],
    "with_notes": lambda m, _: ["true"] if any(topic.note for topic in topics(m)) else [],
    "with_tasks": lambda m, _: ["true"] if any(topic.task for topic in topics(m)) else [],
}
"""The values of a map in each facet, below a folder."""


def completed(drafts: list[MapDraft], asked: Asked) -> set[str]:
    """Return the titles that complete a search text, without case and accents."""
    words = [*words_of(asked.get("query", ""))]
    typed = [word for word, _ in words if not word.startswith(("-", "tag:", "folder:"))]
    if not typed:
        return set()
    # Excluded words may be anywhere in a map; the others must be words of its title.
    query = " ".join(in_title(word) if word in typed else word for word, _ in words)
    return {folded(m.title or "") for m in drafts if passes(m, asked | {"query": query})}


def answered(service: Service, asked: Asked) -> tuple[int, list[int]]:
    response = service.maps(**asked)
    assert response.status_code == 200, response.text
    total = int(response.headers["X-Total-Count"])
    return total, [int(one["File_ID"]) for one in response.json()]


def searched(service: Service, asked: Asked) -> tuple[int, list[int]]:
    """Return the result of ``/search``, as ``answered`` does for ``/maps``."""
    response = service.get(f"/search?{urlencode(asked)}")
    assert response.status_code == 200, response.text
    total = int(response.headers["X-Total-Count"])
    return total, [int(one["map"]["File_ID"]) for one in response.json()]


def faceted(service: Service, asked: Asked) -> tuple[int, Counts]:
    """Return the total and the counts from ``/facets``."""
    found = service.get(f"/facets?{urlencode(asked)}").json()
    key = {"category": "id", "software": "id", "folder": "path"}
    counts = {
        name: {one[key.get(name, "name")]: one["count"] for one in found[name]} for name in FACETS
    }
    return found["total"], counts


def suggested(service: Service, asked: Asked) -> set[str]:
    """Return the titles from ``/suggest``."""
    response = service.get(f"/suggest?{urlencode(asked | {'limit': 50})}")
    return {folded(one["text"]) for one in response.json() if one["kind"] == "title"}


# -- maps and requests -----------------------------------------------------------------------

# Few values of each kind, so that maps tie and several filters match the same map.
TITLES: Final = (
    "Apfel", "apfel", "Äpfel", "Äpfel", "ÄPFEL rot", "Straße", "STRASSE", "strasse blau", "ﬁx",
    "Fix", "ｆｉｘ", "Øre", "ore", "Zebra", "zèbre", "Ζεύς", "ζευς", "Ёлка", "елка", "æther", "",
)  # fmt: skip
# Some share a prefix, but none is an inflected form of another or within one typo of it.
WORDS: Final = ("rot", "rotkohl", "rotbuche", "blau", "apfel", "gelb")
OWNERS: Final = ("Ada", "bob", "Carol Ann")
CATEGORIES: Final = {4: "Business", 6: "Education", 900: "Eigene"}
FOLDERS: Final = ("", "Kurs", "Kurs/Woche 1", "Kurs/Woche 1/Fotos", "kurs", "Zimmer/Kurs")
TAGS: Final = ("Physik", "Chemie", "Ökologie, Umwelt", "neu")
SMALL: Final = st.integers(0, 3)
VOTES: Final = st.one_of(SMALL, st.integers(0, 10_000))


def drafts_with(file_id: int) -> st.SearchStrategy[MapDraft]:
    drafts = st.builds(
        MapDraft,
        file_id=st.just(file_id),
        title=st.sampled_from(TITLES),
        description=st.lists(st.sampled_from(WORDS), max_size=3).map(" ".join),
        thumbs_up=VOTES,
        thumbs_down=VOTES,
        views=SMALL,
        downloads=SMALL | st.integers(0, 2**62),
        category_id=st.sampled_from(sorted(CATEGORIES)),
        date_added=SMALL | st.integers(-(10**12), 2 * 10**12),
        owner=st.sampled_from(OWNERS),
        software=st.sampled_from(sorted(SOFTWARE_IDS)),
        template=st.booleans(),
    ).map(named)
    tags = st.lists(st.sampled_from(TAGS), max_size=2)
    return st.builds(filed, drafts, st.sampled_from(FOLDERS), SMALL, OUTLINES, tags)


def named(draft: MapDraft) -> MapDraft:
    """Return ``draft`` with the name of its category."""
    return replace(draft, category=CATEGORIES[number(draft.category_id)])


@cache
def outline_with(language: str, modified: int | None, more: int, kind: str) -> bytes:
    """Return an outline of ``1 + more`` topics, one of them with a note or a task."""
    special = Topic("", note="x" * (kind == "note"), task=Task("todo") if kind == "task" else None)
    root = Topic("", children=[special, *(Topic("") for _ in range(more - 1))] if more else [])
    return encode_outline(Outline(sheets_of((root,)), language=language, modified=modified))


def filed(draft: MapDraft, folder: str, modified: int, kept: bytes, tags: list[str]) -> MapDraft:
    """Return ``draft`` with a file in a folder, an outline and tags."""
    name = f"{folder}/{draft.file_id}.mm".lstrip("/")
    return replace(
        draft,
        source=Source(f"/srv/{draft.file_id}".encode(), name, 1, modified * 10**6, b""),
        outline=kept,
        tags=parse_tags(",".join(tags)),
    )


OUTLINES: Final = st.builds(
    outline_with,
    st.sampled_from(("", "de", "fr")),
    st.none() | SMALL | st.integers(10**11, 2 * 10**12),
    st.sampled_from((0, 1, 29, 30, 99, 100)),
    st.sampled_from(("", "note", "task")),
)


CATALOGUES: Final = st.sets(st.integers(1, 10**6), max_size=40).flatmap(
    lambda ids: st.tuples(*(drafts_with(file_id) for file_id in sorted(ids))).map(list)
)
SEARCHES: Final = st.lists(
    st.sampled_from(
        [
            *(*WORDS, "-rot", "-apfel", "ada", "ro", "straße", "business"),
            *("tag:physik", "-tag:chemie", "folder:kurs", "-folder:kurs", "folder:nowhere"),
            *("title:rot", "title:ro", "-title:apfel", "title:strasse"),
        ]
    ),
    max_size=3,
).map(lambda words: folded(" ".join(words)))
REQUESTS: Final = st.fixed_dictionaries(
    {"order_by": st.sampled_from(sorted(ORDERS))},
    optional={
        "category": st.sampled_from([*CATEGORIES, 0]),
        "software": st.sampled_from([1, 3, 11, 2]),
        "owner": st.sampled_from([*OWNERS, "ADA", "carol"]),
        "only_templates": st.sampled_from(["true", "false"]),
        "folder": st.sampled_from([*FOLDERS, "Kurs/", "/Zimmer", "KURS", "Woche 1"]),
        "tag": st.sampled_from(["physik", "Umwelt", "ÖKOLOGIE", "Ökologie, Umwelt"]),
        "language": st.sampled_from(["de", "FR", "en", "deutsch"]),
        "year": st.sampled_from([1970, 2001, 3]),
        "size": st.sampled_from(["small", "medium", "large"]),
        "with_notes": st.sampled_from(["true", "false"]),
        "with_tasks": st.sampled_from(["true", "false"]),
        "query": SEARCHES,
        "title_only": st.sampled_from(["true", "false"]),
        "offset": st.integers(0, 45),
        "limit": st.integers(0, 50),
    },
)


def many_drafts() -> list[MapDraft]:
    """Three thousand maps: enough for sets of ranks to be stored as bitmaps as well as numbers."""
    chance = random.Random(2024)
    return [
        filed(
            MapDraft(
                file_id=file_id,
                title=f"{chance.choice(TITLES)} {chance.choice(WORDS)}",
                description=" ".join(chance.choices(WORDS, k=2)),
                thumbs_up=chance.choice((0, 1, 2, chance.randrange(500))),
                thumbs_down=chance.choice((0, 1, chance.randrange(500))),
                views=chance.randrange(50),
                downloads=chance.randrange(2**40),
                category_id=category_id,
                category=CATEGORIES[category_id],
                date_added=chance.randrange(1000),
                owner=chance.choices(OWNERS, (80, 15, 5))[0],
                software=chance.choices(sorted(SOFTWARE_IDS), (5, 60, 20, 15))[0],
                template=chance.random() < 0.5,
            ),
            chance.choice(FOLDERS),
            chance.randrange(1000),
            outline_with(
                chance.choice(("", "de", "fr")),
                chance.choice((None, chance.randrange(1000))),
                chance.choice((0, 29, 30, 100)),
                chance.choice(("", "note", "task")),
            ),
            chance.choices(TAGS, k=chance.randrange(3)),
        )
        for file_id in chance.sample(range(1, 10**6), 3000)
        for category_id in chance.choices(sorted(CATEGORIES), (70, 29, 1))
    ]
