"""iMindMap: the graph in its files, as other projects describe it."""

import pytest

from mapshelf.errors import BrokenFile, NotAMap
from mapshelf.model import Outline, Topic
from mapshelf.readers import Limits, read
from tests.readers.samples import archive

LIMITS = Limits()


def text(words: str) -> str:
    return f'<property key="com.thinkbuzan.gaia.cell.text" value="{words}"/>'


def branch(number: int, source: str, target: str, words: str) -> str:
    return (
        f'<branch edge="1" id="e{number}" source="{source}" target="{target}">{text(words)}'
        f'</branch><branchNode id="{target}"/>'
    )


def outline_of(cells: str, meta: str = "<MapMeta/>") -> Outline:
    data = archive(data__xml=f"<mmGraphModel>{cells}</mmGraphModel>", mapmeta__xml=meta)
    return read(data, LIMITS)


ROOT = f'<floatingIdea id="r">{text("Root")}</floatingIdea>'


def test_words_on_branches_become_topics() -> None:
    cells = ROOT + branch(1, "r", "a", "A") + branch(2, "a", "b", "A1") + branch(3, "r", "c", "C")
    assert outline_of(cells).roots == (
        Topic(
            "Root",
            id="r",
            children=[Topic("A", id="a", children=[Topic("A1", id="b")]), Topic("C", id="c")],
        ),
    )


def test_cells_inside_a_wrapper_and_properties_in_a_list() -> None:
    idea = f'<floatingIdea id="r"><properties>{text("Root")}</properties></floatingIdea>'
    outline = outline_of(f"<root>{idea}{branch(1, 'r', 'a', 'A')}</root>")
    assert [topic.text for _, topic in outline.topics()] == ["Root", "A"]


def test_node_text_is_used_if_the_branch_has_none() -> None:
    cells = f'{ROOT}<branch source="r" target="a"/><idea id="a">{text("A")}</idea>'
    assert [topic.text for _, topic in outline_of(cells).topics()] == ["Root", "A"]


@pytest.mark.parametrize(
    "label",
    [
        "<![CDATA[<html><body><p>one</p><p>two</p></body></html>]]>",
        "<html><body><p>one</p><p>two</p></body></html>",
    ],
)
def test_label_in_html(label: str) -> None:
    key = "com.thinkbuzan.gaia.entities.HTMLLabel"
    idea = f'<property key="{key}"><HTMLLabel>{label}</HTMLLabel></property>'
    assert outline_of(f'<floatingIdea id="r">{idea}</floatingIdea>').roots[0].text == "one\ntwo"


def test_branch_without_end_and_branch_from_nowhere_are_topics() -> None:
    cells = ROOT + f'<branch id="e1" source="r">{text("loose")}</branch>' + branch(2, "?", "x", "X")
    outline = outline_of(cells)
    assert [root.text for root in outline.roots] == ["Root", "X"]
    assert [child.text for child in outline.roots[0].children] == ["loose"]


def test_circle_loses_nothing() -> None:
    cells = ROOT + branch(1, "b", "a", "A") + branch(2, "a", "b", "B") + branch(3, "b", "b", "B")
    outline = outline_of(cells)
    assert [(depth, topic.text) for depth, topic in outline.topics()] == [
        (0, "Root"),
        (0, "A"),
        (1, "B"),
    ]


@pytest.mark.parametrize(
    "meta",
    [
        '<m><MapMeta><InitialAuthor value="Ada"/><CreationTime value="2022/03/07 17:50:45"/>'
        "</MapMeta></m>",
        '<MapMeta author="Ada" created="2022-03-07T17:50:45Z"/>',
    ],
)
def test_author_and_time(meta: str) -> None:
    outline = outline_of(ROOT, meta)
    assert (outline.author, outline.created) == ("Ada", 1646675445000)


def test_broken_metadata_does_not_lose_the_map() -> None:
    outline = outline_of(ROOT, "<MapMeta")
    assert (outline.roots[0].text, outline.author, outline.created) == ("Root", "", None)


def test_graph_without_ideas_is_broken() -> None:
    with pytest.raises(BrokenFile, match="no topics"):
        outline_of("<branchNode id='a'/>")


def test_other_data_is_no_map() -> None:
    with pytest.raises(NotAMap):
        read(archive(data__xml="<table/>"), LIMITS)
