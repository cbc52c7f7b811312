"""Trees built from lists: every topic gets exactly one place, even if the list is inconsistent."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mapshelf.errors import TooLarge
from mapshelf.model import Topic
from mapshelf.readers.parsing.flat_tree import Levels, Member, joined, regrow
from mapshelf.readers.parsing.limits import Limits


def shape(roots: list[Topic]) -> list[tuple[int, str]]:
    return [(depth, topic.text) for root in roots for depth, topic in root.walk()]


@given(st.lists(st.integers(-3, 9), max_size=40))
def test_levels_keep_order_and_relation(numbers: list[int]) -> None:
    levels = Levels(Limits())
    for position, level in enumerate(numbers):
        levels.add(level, Topic(f"{position}"))
    found = shape(levels.roots)
    assert [text for _, text in found] == [f"{position}" for position in range(len(numbers))]
    for position, (depth, _) in enumerate(found):
        # By definition: the parent is the last one before with a lower level.
        lower = [p for p in range(position) if numbers[p] < numbers[position]]
        assert depth == (found[lower[-1]][0] + 1 if lower else 0)


def test_levels_are_counted() -> None:
    levels = Levels(Limits(topics=2))
    levels.add(0, Topic("a"))
    levels.add(0, Topic("b"))
    with pytest.raises(TooLarge, match="more than 2 topics"):
        levels.add(0, Topic("c"))


@given(
    st.dictionaries(
        st.integers(0, 12).map(str),
        st.tuples(st.integers(-1, 13).map(str), st.lists(st.integers(0, 13).map(str), max_size=5)),
        max_size=13,
    )
)
def test_each_member_gets_one_place(families: dict[str, tuple[str, list[str]]]) -> None:
    members = {key: Member(Topic(key), *family) for key, family in families.items()}
    roots = joined(members)
    found = shape(roots)
    assert sorted(text for _, text in found) == sorted(families)
    root_texts = {root.text for root in roots}
    for key, member in members.items():
        for child in member.topic.children:
            assert families[child.text][0] == key
        if families[key][0] not in families:
            assert key in root_texts
        ranks = [
            families[key][1].index(c.text)
            for c in member.topic.children
            if c.text in families[key][1]
        ]
        assert len(set(families[key][1])) < len(families[key][1]) or ranks == sorted(ranks)


def test_regrown_topics_are_clean() -> None:
    raw = Topic(" a\x00b ", children=[Topic("c", links=("x", "x"))])
    assert regrow([raw], Limits()) == (Topic("ab", children=[Topic("c", links=("x",))]),)
