"""MindMeister: what other projects published about its files, each in a minimal example."""

import json

import pytest

from mapshelf.errors import BrokenFile, NotAMap
from mapshelf.model import Outline, Style, Task, Topic
from mapshelf.readers import Limits, read
from tests.readers.samples import archive

LIMITS = Limits()


def outline_of(**root: object) -> Outline:
    document = {"map_version": "3.0", "root": {"title": "Root", **root}}
    return read(archive(map__json=json.dumps(document)), LIMITS)


def test_tree_ids_links_and_order() -> None:
    outline = outline_of(
        id=1,
        children=[
            {"id": 2, "title": "A", "link": "https://a.example/", "children": [{"title": "A1"}]},
            {"title": "B", "link": {"url": "https://b.example/"}, "children": []},
            None,
            "no topic",
        ],
    )
    assert outline.software == "MindMeister"
    assert outline.roots == (
        Topic(
            "Root",
            id="1",
            children=[
                Topic("A", id="2", links=("https://a.example/",), children=[Topic("A1")]),
                Topic("B", links=("https://b.example/",)),
            ],
        ),
    )


def test_children_by_number() -> None:
    outline = outline_of(children={"10": {"title": "A"}, "11": {"title": "B"}})
    assert [child.text for child in outline.roots[0].children] == ["A", "B"]


def test_what_is_attached_to_a_topic() -> None:
    empty = {"task": {"from": None, "until": None, "resource": None, "notify": 1}, "style": {}}
    outline = outline_of(
        icon=["star", "status_done", ""],
        task={"from": "2024-01-01T00:00", "until": "2024-02-01", "resource": "Ann", "notify": 1},
        style={"color": "#FF0000", "backgroundColor": "none", "bold": 1},
        attachments=[{"filename": "a.pdf", "size": "12"}],
        children=[{"title": "A", **empty}, {"title": "B", "property": {"floating": True}}],
    )
    root = outline.roots[0]
    assert root.markers == (("star", "star"), ("other-status-done", "status_done"))
    assert root.task == Task(start="2024-01-01", due="2024-02-01", resources=("Ann",))
    assert root.style == Style(text="#ff0000", bold=True)
    assert root.attachments == (("a.pdf", 12),)
    assert root.children == [Topic("A")]
    assert [topic.text for topic in outline.sheets[0].floating] == ["B"]


def test_carriage_return_ends_a_line() -> None:
    assert outline_of(title="two\rlines").roots[0].text == "two\nlines"


@pytest.mark.parametrize(
    ("note", "plain", "html"),
    [
        ("plain & a < b", "plain & a < b", ""),
        ("<p>one</p><p>&amp; two</p>", "one\n& two", "<p>one</p><p>&amp; two</p>"),
        ("<b onclick=x>bold</b><script>no</script>", "bold", "<b>bold</b>"),
        (None, "", ""),
    ],
)
def test_notes(note: object, plain: str, html: str) -> None:
    root = outline_of(note=note).roots[0]
    assert (root.note, root.note_html) == (plain, html)


def test_times_are_the_roots_and_the_latest() -> None:
    outline = outline_of(
        created_at="2021-06-02T23:02:08.000Z",
        updated_at="2021-06-02T23:46:32.000Z",
        children=[{"updated_at": "2021-06-06T08:51:06.000Z"}, {"updated_at": "soon"}],
    )
    assert (outline.created, outline.modified) == (1622674928000, 1622969466000)


def test_map_without_root_is_broken() -> None:
    for document in ('{"root": null}', '{"root": []}', '["root"]'):
        with pytest.raises(BrokenFile, match="no topics"):
            read(archive(map__json=document), LIMITS)


def test_a_game_map_is_refused() -> None:
    with pytest.raises(NotAMap):
        read(archive(map__json='{"tiles": []}'), LIMITS)
