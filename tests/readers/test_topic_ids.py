"""Every topic has a unique id, which stays the same when other parts of the file are edited."""

from hypothesis import given
from hypothesis import strategies as st

from mapshelf.model import Outline, Topic, sheets_of
from mapshelf.readers.parsing.topic_ids import assign_topic_ids

TREES = st.recursive(
    st.builds(Topic, st.sampled_from(["a", "b", ""]), st.sampled_from(["", "", "x", "y"])),
    lambda below: st.builds(
        lambda text, children: Topic(text, children=children),
        st.sampled_from(["a", "b", ""]),
        st.lists(below, max_size=4),
    ),
    max_leaves=40,
)


def ids(*roots: Topic) -> list[str]:
    outline = Outline(sheets_of(roots))
    assign_topic_ids(outline)
    return [topic.id for _, topic in outline.topics()]


def test_an_id_of_the_file_is_kept() -> None:
    root, child = ids(Topic("root", "ID_1", children=[Topic("child", "ID_2")]))
    assert (root, child) == ("ID_1", "ID_2")


def test_an_id_given_twice_is_kept_once() -> None:
    first, second = ids(Topic("a", "ID_1", children=[Topic("b", "ID_1")]))
    assert first == "ID_1"
    assert second.startswith("t")


def test_a_generated_id_does_not_depend_on_siblings() -> None:
    _, _, before = ids(Topic("root", children=[Topic("a"), Topic("b")]))
    _, _, _, after = ids(Topic("root", children=[Topic("new"), Topic("a"), Topic("b")]))
    assert before == after


def test_a_generated_id_depends_on_the_parent() -> None:
    _, before = ids(Topic("root", children=[Topic("a")]))
    _, after = ids(Topic("another", children=[Topic("a")]))
    assert before != after


@given(st.lists(TREES, min_size=1, max_size=3))
def test_every_id_is_unique(roots: list[Topic]) -> None:
    found = ids(*roots)
    assert all(found)
    assert len(set(found)) == len(found)


def test_deep_trees() -> None:
    root = topic = Topic("0")
    for number in range(1, 5000):
        topic.children.append(Topic(str(number)))
        topic = topic.children[0]
    assert len(set(ids(root))) == 5000
