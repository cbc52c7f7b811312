"""Generated catalogues of any size; the same seed generates the same catalogue.

The distributions of counters, owners, categories and words are skewed as in real catalogues. Maps
are in several scripts and in folders, and have topics. They are written to a real store through
``put_maps``. A finished catalogue stays in its folder and is reused.

A million maps take a few minutes and some gigabytes. A second process generates the maps while this
one writes them. Maps have 25 topics on average; real maps often have more.
"""

import hashlib
import random
import shutil
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import orjson

from benchmarks.filing import LANGUAGES, VERSIONS, filed
from benchmarks.words import SCRIPTS, Integers, ranks, texts, vocabulary
from mapshelf import store
from mapshelf.formats import outline_codec as outlines
from mapshelf.formats.outline_codec import encode_outline
from mapshelf.model import MapDraft, Outline, Task, Topic, sheets_of
from mapshelf.settings import Settings, sqlite_url
from mapshelf.store import open_store
from mapshelf.store.seed import CATEGORIES, SOFTWARE
from mapshelf.tokens import ALPHABET

SEED: Final = 20_260_101
BATCH: Final = 1000
"""Maps generated and written at a time. Each batch has its own seed."""

AHEAD: Final = 8
"""Batches generated ahead of the one being written."""

FIRST_DAY: Final = 1_262_304_000_000
"""2010-01-01 in milliseconds. The dates of maps are spread evenly from then on."""

SPAN: Final = 16 * 365 * 86_400_000
TOPICS: Final = 25
MOST_TOPICS: Final = 1000
WORDS_IN_TOPIC: Final = 3

NOTES: Final = 0.3
TASKS: Final = 0.1
"""Shares of maps in which a topic has a note, or is a task."""

BASE_URL: Final = "http://127.0.0.1:8000"


@dataclass(frozen=True, slots=True)
class Catalogue:
    """A catalogue on disk.

    Attributes:
        size: how many maps it has.
        seed: the seed it was generated with.
        folder: the folder for ``mapshelf --data``.
        facts: the time it took to generate, and the size of its store.
    """

    size: int
    seed: int
    folder: Path
    facts: dict[str, Any]

    @property
    def settings(self) -> Settings:
        """The settings to serve it with."""
        return Settings(self.folder, sqlite_url(self.folder), BASE_URL)

    def copied_to(self, folder: Path) -> "Catalogue":
        """Return a copy, which you may change."""
        shutil.copytree(self.folder, folder)
        return Catalogue(self.size, self.seed, folder, self.facts)


def prepare(size: int, data: Path, seed: int = SEED) -> Iterator[int]:
    """Generate the store of a catalogue unless it exists; yield the number of maps so far."""
    folder = folder_of(size, data, seed)
    if (folder / "facts.json").exists():
        return
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    began = time.perf_counter()
    filled = open_store(sqlite_url(folder))
    with ProcessPoolExecutor(max_workers=1) as pool:
        for done, drafts in enumerate(_batches(pool, size, seed), 1):
            filled.put_maps(drafts)
            yield min(size, done * BATCH)
    filled.close()
    facts = {
        "seconds": round(time.perf_counter() - began, 2),
        "store_bytes": sum(path.stat().st_size for path in folder.glob("catalogue.db*")),
    }
    (folder / "facts.json").write_bytes(orjson.dumps(facts))


def prepared(size: int, data: Path, seed: int = SEED) -> Catalogue:
    """Return the catalogue that ``prepare`` made."""
    folder = folder_of(size, data, seed)
    return Catalogue(size, seed, folder, orjson.loads((folder / "facts.json").read_bytes()))


def folder_of(size: int, data: Path, seed: int) -> Path:
    """Return the folder of a catalogue; a new schema, format or generator gets a new folder."""
    made_by = [Path(outlines.__file__), *sorted((Path(store.__file__).parent).rglob("*.sql"))]
    made_by += [Path(__file__), *map(Path(__file__).with_name, ("words.py", "filing.py"))]
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in made_by)).hexdigest()
    return data / f"maps-{size}-seed-{seed}-{digest[:8]}"


def drafts_of(size: int, seed: int, batch: int) -> list[MapDraft]:
    """Return the maps of one batch."""
    count = min(BATCH, size - batch * BATCH)
    return [*_Batch(size, seed, batch, count)]


@lru_cache
def words_of(script: str, seed: int) -> list[str]:
    """Return the words of the script with this name, the most frequent first."""
    (found,) = (row for row in SCRIPTS if row.name == script)
    return vocabulary(found, seed)


def owner_name(number: int, seed: int) -> str:
    """Return the name of an owner by number; number 0 has the most maps."""
    words = words_of("Latin", seed)
    return f"{words[number % 5000 + 1000]}{number}"


def owners_of(size: int) -> int:
    """Return how many owners a catalogue has."""
    return max(20, size // 20)


def _batches(pool: ProcessPoolExecutor, size: int, seed: int) -> Iterator[list[MapDraft]]:
    """Yield the batches in order; the pool generates a few of them in advance."""
    pending: deque[Future[list[MapDraft]]] = deque()
    for batch in range(-(-size // BATCH)):
        pending.append(pool.submit(drafts_of, size, seed, batch))
        if len(pending) > AHEAD:
            yield pending.popleft().result()
    while pending:
        yield pending.popleft().result()


class _Batch:
    """The maps of one batch. All random numbers are drawn first, then the maps are yielded."""

    def __init__(self, size: int, seed: int, batch: int, count: int) -> None:
        rng = np.random.default_rng([seed, batch])
        self._seed = seed
        self._first = batch * BATCH
        self._size = size
        self._chance = random.Random(f"{seed} {batch}")
        self._scripts = rng.choice(len(SCRIPTS), count, p=[row.share for row in SCRIPTS]).tolist()
        self._views = rng.lognormal(5, 2, count).astype(np.int64)
        self._downloads = rng.binomial(self._views, rng.beta(2, 8, count)).tolist()
        self._thumbs_up = rng.binomial(self._views, rng.beta(1, 60, count)).tolist()
        self._thumbs_down = rng.binomial(self._views, rng.beta(1, 300, count)).tolist()
        self._owners = ranks(rng, owners_of(size), count).tolist()
        self._categories = ranks(rng, len(CATEGORIES), count).tolist()
        self._software = ranks(rng, len(SOFTWARE), count).tolist()
        self._title_words = rng.integers(2, 8, count).tolist()
        self._described = (rng.integers(5, 45, count) * (rng.random(count) < 0.75)).tolist()
        self._topics = np.clip(rng.lognormal(2.9, 0.8, count), 3, MOST_TOPICS).astype(np.int64)
        needed = self._words_needed()
        self._texts = [
            texts(script, words_of(script.name, seed), rng, needed[number])
            for number, script in enumerate(SCRIPTS)
        ]
        self._parents = rng.random(int(self._topics.sum())).tolist()
        self._tagging = words_of("Latin", seed)
        self._last: tuple[list[str], list[float], str] = ([], [], "")

    def __iter__(self) -> Iterator[MapDraft]:
        first_parent = 0
        for i, topics in enumerate(self._topics.tolist()):
            yield self._draft(i, self._parents[first_parent : first_parent + topics])
            first_parent += topics

    def _words_needed(self) -> Integers:
        each = np.array(self._title_words) + np.array(self._described)
        each = each + self._topics * WORDS_IN_TOPIC
        return np.bincount(self._scripts, each, len(SCRIPTS)).astype(np.int64)

    def _draft(self, i: int, parents: list[float]) -> MapDraft:
        text = self._texts[self._scripts[i]]
        number = self._first + i
        software = SOFTWARE[self._software[i]].name
        draft = MapDraft(
            id="".join(self._chance.choices(ALPHABET, k=8)),
            title=text(self._title_words[i]).capitalize(),
            description=text(self._described[i]),
            thumbs_up=self._thumbs_up[i],
            thumbs_down=self._thumbs_down[i],
            views=int(self._views[i]),
            downloads=self._downloads[i],
            category=CATEGORIES[self._categories[i]].name,
            date_added=FIRST_DAY + number * SPAN // self._size + self._chance.randrange(1000),
            owner=owner_name(self._owners[i], self._seed),
            size=self._chance.randrange(100, 50_000),
            licence_type_id=self._chance.randrange(1, 11),
            software=software,
            template=self._chance.random() < 0.02,
            outline=self._outline(i, parents, software),
        )
        return filed(draft, number, self._size, self._chance, self._tagging)

    def _outline(self, i: int, parents: list[float], software: str) -> bytes:
        text, script = self._texts[self._scripts[i]], SCRIPTS[self._scripts[i]].name
        if i % VERSIONS == VERSIONS - 1:  # a duplicate of the previous map
            names, parents, language = self._last
        elif i % VERSIONS == VERSIONS // 2:  # a near-duplicate
            names, parents, language = self._last
            names = [*names[:-1], text(WORDS_IN_TOPIC)]
        else:
            names = [text(WORDS_IN_TOPIC) for _ in parents]
            language = self._chance.choice(LANGUAGES[script])
        self._last = names, parents, language
        root = _tree(names, parents)
        if self._chance.random() < NOTES:
            root.note = names[-1]
        if self._chance.random() < TASKS:
            root.task = Task("todo")
        return encode_outline(Outline(sheets_of((root,)), software, language=language))


def _tree(names: list[str], parents: list[float]) -> Topic:
    """Return a tree of topics; the parent of each is an earlier topic, often one of the first."""
    topics = [Topic(name) for name in names]
    for i in range(1, len(topics)):
        topics[int(i * parents[i] ** 2)].children.append(topics[i])
    return topics[0]
