"""MindMup: the habits of real files, each in its smallest form."""

import json

import pytest

from mapshelf.errors import BrokenFile, NotAMap
from mapshelf.model import Outline, Topic
from mapshelf.readers import Limits, read

LIMITS = Limits()


def outline_of(**file: object) -> Outline:
    return read(json.dumps(file).encode(), LIMITS)


def test_ranks_are_numbers_and_the_right_side_comes_first() -> None:
    ranks = ["10", "-1", "9", "1.5", "-20", "1", "x"]
    ideas = {rank: {"title": rank} for rank in ranks}
    (root,) = outline_of(title="r", id=1, formatVersion=2, ideas=ideas).roots
    assert (root.id, root.text) == ("1", "r")
    assert [child.text for child in root.children] == ["1", "1.5", "9", "10", "x", "-1", "-20"]


@pytest.mark.parametrize("facts", [{"formatVersion": 3}, {"id": "root"}])
def test_version_3_keeps_maps_one_level_down(facts: dict[str, object]) -> None:
    ideas = {"1": {"title": "One", "ideas": {"1": {"title": "A"}}}, "2": {"title": "Two"}}
    outline = outline_of(title="copy", ideas=ideas, **facts)
    assert outline.roots == (Topic("One", children=[Topic("A")]), Topic("Two"))


def test_version_may_be_missing() -> None:
    assert outline_of(title="r", ideas={}).roots == (Topic("r"),)


@pytest.mark.parametrize(
    ("attributes", "note", "rich"),
    [
        ({"note": {"index": 1, "text": "a\nb"}}, "a\nb", False),
        ({"note": "a"}, "a", False),
        ({"attachment": {"contentType": "text/html", "content": "<b>a</b>"}}, "a", True),
        ({"attachment": {"contentType": "text/plain", "content": "<b>"}}, "<b>", False),
        ({"attachment": {"contentType": "image/png", "content": "AAAA"}}, "", False),
        ({"attachment": {"content": '<img src="data:image/png;base64,AA">'}}, "", False),
        ({"note": [5], "attachment": []}, "", False),
    ],
)
def test_notes(attributes: dict[str, object], note: str, rich: bool) -> None:
    (root,) = outline_of(title="r", ideas={}, attr=attributes).roots
    assert (root.note, bool(root.note_html)) == (note, rich)


def test_raw_control_characters_and_latin_1() -> None:
    data = b'{"title": "caf\xe9\x01\tau lait", "ideas": {}}'
    assert read(data, LIMITS).roots[0].text == "café\tau lait"


@pytest.mark.parametrize("text", ['{"ideas": []}', '{"my": {"ideas": {}}}', '{"ideas": "none"}'])
def test_json_that_only_speaks_of_ideas(text: str) -> None:
    with pytest.raises(NotAMap, match="JSON of another kind"):
        read(text.encode(), LIMITS)


def test_broken_json_names_the_line() -> None:
    with pytest.raises(BrokenFile, match="JSON is broken at line 2"):
        read(b'{"ideas": {},\n"title": "a" "b"}', LIMITS)
