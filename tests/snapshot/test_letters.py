"""The positions of first letters in alphabetical lists, compared with all titles."""

import unicodedata
from random import Random

import pytest

from mapshelf.model import ListedMap, MapDraft
from mapshelf.query import MapQuery
from mapshelf.snapshot.read.letters import Letter
from mapshelf.text.normalize import normalize
from tests.snapshot.world import World, filtered, in_order

TITLES = (
    *("apple", "Äpfel", "avocado", "beet", "Zucchini", "żur", "42", "7up", "(odd)", "_x", "~y"),
    *("ключ", "Яблоко", "αβγ", "かな", "カナ", "漢字", "中", "한국", "\U0001f600 smile", "", "ß"),
)


def group(title: str) -> str:
    """Return the group of a title, by the Unicode names of letters."""
    letter = (normalize(title) or "\0")[0]
    if letter.isdigit():
        return "0-9"
    name = unicodedata.name(letter, "")
    for script, shown in (("HANGUL", "가"), ("CJK", "漢"), ("HIRAGANA", "あ"), ("KATAKANA", "あ")):
        if name.startswith(script):
            return shown
    return letter.upper() if letter.isalpha() else "#"


def plain(maps: list[ListedMap]) -> list[Letter]:
    found: dict[str, Letter] = {}
    for offset, one in enumerate(in_order(maps, "alpha")):
        found.setdefault(group(one.map.title), Letter(group(one.map.title), offset))
    return list(found.values())


def prove(world: World) -> None:
    snapshot, maps = world.published(), world.listed()
    for filters in ((), (("category", 1),), (("only_templates", 1),)):
        query = MapQuery(order="alpha", filters=filters)
        assert snapshot.letters(query) == plain(filtered(maps, filters))


def test_letters_of_lists(world: World) -> None:
    prove(world)
    world.put(*(MapDraft(title=one, template=n % 3 == 0) for n, one in enumerate(TITLES)))
    prove(world)
    names = [one.name for one in world.snapshot().letters(MapQuery(order="alpha"))]
    assert names[:4] == ["#", "0-9", "A", "B"]
    assert {"A", "B", "Z", "0-9", "К", "Я", "あ", "漢", "가"} <= set(names)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_letters_after_many_changes(world: World, seed: int) -> None:
    random = Random(seed)
    for _ in range(4):
        drafts = [
            MapDraft(
                title=random.choice(TITLES) + random.choice("abc "),
                template=random.random() < 0.3,
                category=random.choice(("Science", "")),
            )
            for _ in range(40)
        ]
        world.put(*drafts)
        gone = random.sample([one.id for one in world.maps()], 10)
        world.store.delete_maps(gone)
        prove(world)
