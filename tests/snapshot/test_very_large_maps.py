"""A very large map costs the builder a few seconds at most, whatever its text is.

The text beyond the limits is not searched, neither with an index nor without one.
"""

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from string import ascii_lowercase
from typing import Final

import orjson
import pytest

from mapshelf.formats.outline_codec import LONGEST_TEXT
from mapshelf.model import Map, MapDraft, Origin
from mapshelf.snapshot.build.documents import Document, Indexed, SearchDocuments
from mapshelf.snapshot.build.map_preparation import MOST_AT_ONCE, MapToPrepare, prepare
from mapshelf.text.word_forms import MOST_VARIANTS
from tests.harness import outline_of
from tests.snapshot.world import world_in

TOPIC: Final = 20_000
TOPICS: Final = 200
"""Characters of a topic, and topics of a map that is as large as files may be."""

MOST_INDEXED: Final = 4 << 20
"""Characters that the index may get of such a map. It got 25 million of some."""

LETTERED: Final = " ".join(f"A{number}b" for number in range(MOST_VARIANTS // 4 + 1000))
"""Words of four variants each, which reach their limit before that of the characters."""

chance: Final = random.Random(20_261_126)


def some(count: int) -> str:
    return "".join(chance.choices(ascii_lowercase, k=count)).title()


HOSTILE: Final[dict[str, Callable[[], str]]] = {
    "characters that become eighteen": lambda: "\ufdfa" * TOPIC,
    "pairs of characters": lambda: "".join(
        map(chr, chance.choices(range(0x4E00, 0x9FFF), k=TOPIC))
    ),
    "words with parts": lambda: " ".join(
        f"{some(3)}{some(3)}-{some(3)}{some(3)}" for _ in range(TOPIC // 14)
    ),
}


def map_of(world_folder: Path, outline: bytes) -> Map:
    """Return a map with this outline, as a store has it."""
    with world_in(world_folder) as world:
        world.put(MapDraft(title="Plan", outline=outline))
        return world.maps()[0]


@pytest.mark.slow
@pytest.mark.parametrize("kind", HOSTILE)
def test_the_index_gets_a_bounded_part_of_a_map(tmp_path: Path, kind: str) -> None:
    outline = outline_of("root", *(HOSTILE[kind]() for _ in range(TOPICS)))
    found = map_of(tmp_path, outline)
    (made,) = prepare(SearchDocuments(), [to_prepare(found, outline)])
    fields = orjson.loads(made.document.encoded)
    indexed = [text for text in fields.values() if isinstance(text, str)]
    assert MOST_INDEXED // 20 < sum(map(len, indexed)) < MOST_INDEXED


@pytest.mark.slow
@pytest.mark.parametrize(
    ("query", "expected"),
    [("numbat", {"long", "many"}), ("quokka", set()), ("title:long", {"long"}), ("b", {"many"})],
)
def test_text_over_the_limits_is_not_searched(
    tmp_path: Path, query: str, expected: set[str]
) -> None:
    beyond = ["again " * (LONGEST_TEXT // 60)] * 10
    texts = {"long": ["numbat", *beyond, "quokka"], "many": ["numbat", LETTERED, "quokka"]}
    assert len(LETTERED) < LONGEST_TEXT - 100
    with world_in(tmp_path) as world:
        world.put(
            *(MapDraft(title=name, outline=outline_of(*text)) for name, text in texts.items())
        )
        world.published()
        assert world.titles_found(query) == (expected, expected)


class Watched(SearchDocuments):
    """Remembers the sizes of outlines that were processed at once."""

    def __init__(self) -> None:
        super().__init__()
        self.sizes: list[list[int]] = []

    def of(self, maps: Sequence[Indexed]) -> list[Document]:
        self.sizes.append([one.passages.size for one in maps])
        return super().of(maps)


def test_few_large_maps_are_in_memory_at_once(tmp_path: Path) -> None:
    """Texts that repeat themselves are a thousand times as large as the change feed says."""
    large, small = outline_of("root", "x" * (MOST_AT_ONCE // 2)), outline_of("root")
    found = map_of(tmp_path, small)
    outlines = [small, large, small, large, large, small]
    documents = Watched()
    made = list(prepare(documents, [to_prepare(found, outline) for outline in outlines]))
    assert [len(sizes) for sizes in documents.sizes] == [3, 1, 2]
    assert [one.listed.topics for one in made] == [1, 2, 1, 2, 2, 1]
    assert all(sum(sizes) <= MOST_AT_ONCE for sizes in documents.sizes)


def to_prepare(found: Map, outline: bytes) -> MapToPrepare:
    return MapToPrepare(0, found, outline, Origin("", None))
