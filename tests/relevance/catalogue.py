"""The catalogue for judged queries: our samples, maps written for it, and filler.

The maps written for it are in ``maps/*.txt``, in the notation of ``examples/sources`` with a head::

    == key | owner=ann | category=Health | views=10 downloads=2 up=1 down=0 | date=2020-01-31
    Title, which is the central topic too
    > Description
      Topic
        Topic below it / another / a third

Everything but key and title is optional. What is missing is derived from the key, so that adding a
map changes no other. Judgements refer to maps by key. ``file=folder/name.mm`` gives a map a source.
"""

import hashlib
import random
import re
import zlib
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from mapshelf.formats.outline_codec import encode_outline
from mapshelf.model import MapDraft, Outline, Source, Topic, sheets_of
from mapshelf.readers import Limits
from mapshelf.readers.sandboxed_reader import ReadFile, read_file
from mapshelf.readers.summary import language
from tests.relevance.filler import fillers

_HEAD: Final = re.compile("^== ", re.MULTILINE)

HERE: Final = Path(__file__).resolve().parent
EXAMPLES: Final = HERE.parent.parent / "examples"
SEED: Final = 20_260_404
FILLERS: Final = 3000
FIRST_DAY: Final = 1_262_304_000_000
"""2010-01-01 in milliseconds."""
SPAN: Final = 5000 * 86_400_000

CATEGORIES: Final = (
    "Business", "Education", "Management", "Projects and Planning", "Science", "Society",
    "Technology and Engineering",
)  # fmt: skip
OWNERS: Final = (
    "bergstrom", "chiara", "dmitri", "eve.okafor", "fatima", "george_w", "hiro", "ines",
)  # fmt: skip
"""Owners of maps without a given owner. No judged query contains them."""

SAMPLES: Final = {
    "colours": "Arts and Culture/Mixing colours.mindnode",
    "orchestra": "Arts and Culture/The orchestra.imx",
    "poetic-forms": "Books and Literature/Poetic forms.mm.md",
    "meetings": "Business/Meetings that end on time.mmap",
    "http": "Computers and Software/HTTP status codes.mmd",
    "licences": "Computers and Software/Open-source licences compared.mm",
    "regex": "Computers and Software/Regular expressions.vym",
    "unicode": "Computers and Software/Unicode in one page.xmind",
    "zh-dushu": "Education/读书笔记方法.xmind",
    "moving-house": "Family and Home/Moving house.puml",
    "household-budget": "Finance/A household budget.mup",
    "arroz": "Food and Drink/Cocinar arroz.xmind",
    "echecs": "Games/Débuter aux échecs.mm",
    "sleep": "Health/A good night's sleep.smmx",
    "writing": "History/Ways of writing.mom",
    "arabic-letters": "Languages/الحروف العربية.mm",
    "campaign": "Marketing/A small campaign.nm5",
    "primes": "Mathematics/Простые числа.mm",
    "philosophers": "Philosophy and Religion/Greek philosophers.itmz",
    "klassenfahrt": "Projects and Planning/Klassenfahrt planen.xmind",
    "weekly-review": "Projects and Planning/Weekly review.xmt",
    "clouds": "Science/Clouds.wxml",
    "science-news": "Science/Science news.opml",
    "matter": "Science/States of matter.mmd",
    "elements": "Science/The chemical elements.mm",
    "solar-system": "Science/The solar system.mm",
    "badminton": "Sports and Leisure/Badminton in five minutes.km",
    "ja-yama": "Sports and Leisure/はじめての山歩き.xmind",
    "bicycle": "Technology and Engineering/The bicycle.emmx",
    "lisbon": "Travel and Places/A weekend in Lisbon.mind",
}


def named_maps() -> dict[str, MapDraft]:
    """Return the maps that judgements refer to, by key."""
    named = {key: _sample(name) for key, name in SAMPLES.items()}
    for path in sorted((HERE / "maps").glob("*.txt")):
        for block in _HEAD.split(path.read_text("utf-8"))[1:]:
            key, draft = _written(block)
            assert key not in named, f"two maps have the key {key}"
            named[key] = draft
    return named


def filler_maps() -> Iterator[MapDraft]:
    """Yield the maps that no judgement refers to."""
    chance = random.Random(SEED)
    for filler in fillers(FILLERS, chance):
        yield MapDraft(
            title=filler.title,
            description=filler.description,
            category=chance.choice(CATEGORIES),
            owner=filler.owner,
            views=int(chance.paretovariate(0.7)),
            downloads=int(chance.paretovariate(1)) - 1,
            thumbs_up=int(chance.paretovariate(1)) - 1,
            thumbs_down=int(chance.paretovariate(2)) - 1,
            date_added=FIRST_DAY + chance.randrange(SPAN),
            source=_source(filler.file) if filler.file else None,
            outline=_encoded(filler.root),
        )


def all_maps() -> list[tuple[str, MapDraft]]:
    """Return every map with its key, empty for filler, in the order in which they are added.

    The judged maps are neither the oldest nor the newest, so that age alone does not help.
    """
    others = [("", draft) for draft in filler_maps()]
    half = len(others) // 2
    return [*others[:half], *named_maps().items(), *others[half:]]


def _sample(name: str) -> MapDraft:
    """Return a sample as the importer would import it."""
    found = read_file(str(EXAMPLES / name), Limits())
    assert isinstance(found, ReadFile), found
    return MapDraft(
        title=found.title,
        description=found.description,
        category=name.partition("/")[0],
        date_added=_by_chance(name, SPAN) + FIRST_DAY,
        software=found.software,
        source=_source(name),
        outline=found.outline,
    )


def _written(block: str) -> tuple[str, MapDraft]:
    head, title, *lines = block.strip().splitlines()
    key, *pairs = (part.strip() for part in head.split("|"))
    facts = dict(pair.split("=", 1) for group in pairs for pair in _pairs(group))
    description = " ".join(line[2:] for line in lines if line.startswith("> "))
    root = Topic(title, children=_topics([line for line in lines if not line.startswith("> ")]))
    file = facts.get("file")
    return key, MapDraft(
        title=title,
        description=description,
        category=facts["category"],
        owner=facts.get("owner", OWNERS[_by_chance(key, len(OWNERS))]),
        views=int(facts.get("views", "100")),
        downloads=int(facts.get("downloads", "5")),
        thumbs_up=int(facts.get("up", "0")),
        thumbs_down=int(facts.get("down", "0")),
        date_added=_date(facts.get("date")) or FIRST_DAY + _by_chance(key, SPAN),
        source=_source(file) if file else None,
        outline=_encoded(root),
    )


def _encoded(root: Topic) -> bytes:
    """Return the outline of a map as the importer would keep it."""
    outline = Outline(sheets_of((root,)))
    return encode_outline(replace(outline, language=language(outline)))


def _pairs(group: str) -> list[str]:
    """Return the pairs in a part of a head: several numbers, or one text with spaces."""
    parts = group.split()
    return parts if all("=" in part for part in parts) else [group]


def _topics(lines: list[str]) -> list[Topic]:
    """Return the topics of indented lines, with two spaces for each level."""
    top = Topic("")
    path = [top]
    for line in filter(str.strip, lines):
        text = line.lstrip(" ")
        del path[(len(line) - len(text)) // 2 :]
        siblings = [Topic(part) for part in text.split(" / ")]
        path[-1].children.extend(siblings)
        path.append(siblings[-1])
    return top.children


def _source(name: str) -> Source:
    digest = hashlib.sha256(name.encode()).digest()
    return Source(path=f"/maps/{name}".encode(), name=name, size=1000, modified=1, digest=digest)


def _by_chance(key: str, below: int) -> int:
    """Return a pseudorandom number that is always the same for ``key``."""
    return zlib.crc32(key.encode()) * below >> 32


def _date(text: str | None) -> int | None:
    if text is None:
        return None
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) * 1000
