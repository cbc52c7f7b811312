"""The differences between two maps: exactly the edits, found with a limited amount of work."""

import copy
import random
from collections.abc import Callable
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mapshelf.comparison import Comparison, compare
from mapshelf.model import Outline, Topic, sheets_of
from tests.examples import examples
from tests.outlines import OUTLINES


def tree(text: str, *below: Topic, **facts: str) -> Topic:
    return Topic(text, children=list(below), **facts)  # type: ignore[arg-type]


def outline(*roots: Topic) -> Outline:
    return Outline(sheets_of(roots))


def texts(found: Comparison) -> dict[str, list[str]]:
    """Return the texts of the topics in each kind of difference."""
    kinds = ("added", "removed", "moved", "changed")
    return {kind: [one.text for one in getattr(found, kind)] for kind in kinds}


def nothing(**kinds: list[str]) -> dict[str, list[str]]:
    return {"added": [], "removed": [], "moved": [], "changed": []} | kinds


def grown(size: int, seed: random.Random, text: Callable[[int], str]) -> Topic:
    """Return a random tree of ``size`` topics, with ids like those of real programs."""
    topics = [Topic(text(0), "ID_100000")]
    for number in range(1, size):
        topic = Topic(text(number), f"ID_{100000 + number}")
        seed.choice(topics).children.append(topic)
        topics.append(topic)
    return topics[0]


class Editor:
    """Edits random topics of a map, each at most once, and records the edits."""

    def __init__(self, root: Topic, seed: random.Random) -> None:
        self.root = root
        self.done: dict[str, set[str]] = {kind: set() for kind in nothing()}
        self._seed = seed
        self._fresh = count()
        self._untouched = {topic.id for _, topic in root.walk()} - {root.id}
        self._bereft: set[str] = set()

    def edit(self) -> None:
        """Make one edit, if there is a topic left to edit."""
        kind = self._seed.choice(sorted(self.done))
        if kind == "added":
            below = [Topic("inside", f"NEW_{next(self._fresh)}xxxxxx")]
            added = Topic("new", f"NEW_{next(self._fresh)}xxxxxx", children=below)
            self._place(added)
            self.done["added"].add(added.id)
            return
        found = self._chosen(whole=kind == "removed")
        if found is None:
            return
        above, topic = found
        self._untouched.discard(topic.id)
        if kind == "changed":
            topic.text, topic.note = f"{topic.text} again", "noted"
        elif kind == "removed":
            above.children.remove(topic)
            self._untouched -= {one.id for _, one in topic.walk()}
            self._bereft.add(above.id)
        else:
            inside = {one.id for _, one in topic.walk()}
            others = [one for _, one in self.root.walk() if one.id not in inside | {above.id}]
            if not others:
                return
            above.children.remove(topic)
            self._seed.choice(others).children.append(topic)
        self.done[kind].add(topic.id)

    def _place(self, topic: Topic) -> None:
        there = [one for _, one in self.root.walk() if not one.id.startswith("NEW")]
        above = self._seed.choice(there)
        above.children.insert(self._seed.randint(0, len(above.children)), topic)

    def _chosen(self, *, whole: bool) -> tuple[Topic, Topic] | None:
        """Return an unedited topic with its parent; with ``whole``, its branch is unedited, too.

        A topic removed from a branch would count as part of it if the branch were removed later.
        """
        found = [
            (above, topic)
            for _, above in self.root.walk()
            for topic in above.children
            if topic.id in self._untouched
            and (not whole or {one.id for _, one in topic.walk()} <= self._untouched - self._bereft)
        ]
        return self._seed.choice(found) if found else None


@pytest.mark.slow
@given(
    size=st.integers(2, 40),
    edits=st.integers(0, 12),
    repeated=st.booleans(),
    seed=st.randoms(use_true_random=False),
)
def test_the_differences_are_exactly_the_edits(
    size: int, edits: int, repeated: bool, seed: random.Random
) -> None:
    before = grown(size, seed, lambda number: "same" if repeated else f"topic {number}")
    editor = Editor(copy.deepcopy(before), seed)
    for _ in range(edits):
        editor.edit()
    found = compare(outline(before), outline(editor.root))
    named = {
        "added": [one.spot.topic for one in found.added],
        "removed": [one.spot.topic for one in found.removed],
        "moved": [one.after.topic for one in found.moved],
        "changed": [one.spot.topic for one in found.changed],
    }
    assert {kind: set(ids) for kind, ids in named.items()} == editor.done
    assert sum(map(len, named.values())) == len(found)


@pytest.mark.slow
@settings(max_examples=examples(40))
@given(OUTLINES)
def test_a_map_has_no_differences_from_itself(anything: Outline) -> None:
    assert len(compare(anything, copy.deepcopy(anything))) == 0


@pytest.mark.slow
@settings(max_examples=examples(40))
@given(OUTLINES, OUTLINES)
def test_any_two_maps_can_be_compared(one: Outline, other: Outline) -> None:
    there, back = compare(one, other), compare(other, one)
    paired = one.topic_count - sum(branch.topics for branch in there.removed)
    assert paired == other.topic_count - sum(branch.topics for branch in there.added)
    assert len(back) > 0 or len(there) == 0


@given(size=st.integers(2, 30), seed=st.randoms(use_true_random=False))
def test_without_ids_topics_are_matched_by_text(size: int, seed: random.Random) -> None:
    before = grown(size, seed, lambda number: f"topic {number}")
    editor = Editor(copy.deepcopy(before), seed)
    editor.done.pop("changed")
    for _ in range(4):
        editor.edit()
    expected = {kind: len(ids) for kind, ids in editor.done.items()}
    for root in (before, editor.root):
        for _, topic in root.walk():
            topic.id = ""
    found = compare(outline(before), outline(editor.root))
    assert {kind: len(getattr(found, kind)) for kind in expected} == expected
    assert found.changed == []


def test_reordered_siblings_are_as_few_moves_as_possible() -> None:
    before = outline(tree("root", *(tree(letter) for letter in "abcdef")))
    after = outline(tree("root", *(tree(letter) for letter in "fabdec")))
    assert texts(compare(before, after)) == nothing(moved=["f", "c"])


def test_reworded_topics_are_changed_not_replaced() -> None:
    before = outline(
        tree("Holiday", tree("Book the flights"), tree("Pack", tree("Tent")), tree("Insurance"))
    )
    after = outline(
        tree("Holidays", tree("Book flights"), tree("Luggage", tree("Tent")), tree("Passport"))
    )
    found = compare(before, after)
    assert texts(found) == nothing(
        added=["Passport"],
        removed=["Insurance"],
        changed=["Holidays", "Book flights", "Luggage"],
    )
    assert found.changed[1].before == {"text": "Book the flights"}
    assert found.changed[1].after == {"text": "Book flights"}


def test_renumbered_topics_are_not_matched_by_id() -> None:
    before = outline(tree("root", tree("a", id="1"), tree("b", id="2"), tree("c", id="3")))
    after = outline(tree("root", tree("b", id="1"), tree("c", id="2"), tree("a", id="9")))
    assert texts(compare(before, after)) == nothing(moved=["a"])


def test_changed_ids_in_links_and_spaces_are_no_difference() -> None:
    before = outline(Topic("a  b", "x1", note="n\n", links=("#x1", "#gone", "https://x")))
    after = outline(Topic("a\nb", "y1", note="n", links=("#y1", "#gone", "https://x")))
    assert len(compare(before, after)) == 0


def test_long_paths_and_texts_are_cut() -> None:
    def deep(last: str) -> Outline:
        topic = tree("deepest", note=last)
        for number in range(200, 0, -1):
            topic = tree(f"{number} " + "x" * 1000, topic)
        return outline(topic)

    (change,) = compare(deep("before"), deep("after")).changed
    assert [step[:4] for step in change.spot.path] == [
        "1 xx", "", "195 ", "196 ", "197 ", "198 ", "199 ", "200 ",
    ]  # fmt: skip
    assert max(map(len, change.spot.path)) == 80


@pytest.mark.slow
def test_comparing_equal_siblings_takes_linear_work() -> None:
    """Compare 20,000 topics with the same text, and as many with different texts."""
    many = 20_000
    same = outline(tree("root", *(tree("same") for _ in range(many))))
    fewer = outline(tree("root", *(tree("same") for _ in range(many - 7))))
    assert texts(compare(same, fewer)) == nothing(removed=["same"] * 7)
    shuffled = [tree(str(number)) for number in range(many)]
    random.Random(1).shuffle(shuffled)
    found = compare(same, outline(tree("root", *shuffled)))
    assert (len(found.removed), len(found.added)) == (many, many)
    ordered = outline(tree("root", *(tree(str(number)) for number in range(many))))
    assert len(compare(ordered, outline(tree("root", *shuffled))).moved) > many - 1000
