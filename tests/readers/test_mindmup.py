"""MindMup: cases from real files, each as a minimal example."""

import base64
import json

import pytest

from mapshelf.errors import BrokenFile, NotAMap
from mapshelf.model import Outline, Relationship, Style, Topic
from mapshelf.readers import Limits, read
from tests.readers.samples import as_file, drawn

LIMITS = Limits()


def outline_of(**file: object) -> Outline:
    return read(json.dumps(file).encode(), LIMITS)


def test_ranks_are_compared_as_numbers_and_the_right_side_is_first() -> None:
    ranks = ["10", "-1", "9", "1.5", "-20", "1", "x"]
    ideas = {rank: {"title": rank} for rank in ranks}
    (root,) = outline_of(title="r", id=1, formatVersion=2, ideas=ideas).roots
    assert (root.id, root.text) == ("1", "r")
    assert [child.text for child in root.children] == ["1", "1.5", "9", "10", "x", "-1", "-20"]
    assert [child.side for child in root.children] == [*4 * ["right"], "", "left", "left"]


@pytest.mark.parametrize("facts", [{"formatVersion": 3}, {"id": "root"}])
def test_version_3_keeps_maps_one_level_down(facts: dict[str, object]) -> None:
    ideas = {"1": {"title": "One", "ideas": {"1": {"title": "A"}}}, "2": {"title": "Two"}}
    outline = outline_of(title="copy", ideas=ideas, **facts)
    assert outline.roots == (Topic("One", children=[Topic("A", side="right")]), Topic("Two"))


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


def test_style_fold_and_place() -> None:
    style = {"background": "#FF0000", "text": {"color": "#000000"}, "font": {"weight": "bold"}}
    below = {"1": {"title": "below", "attr": {"collapsed": True, "position": [9, 9, 1]}}}
    attributes = {"style": style, "collapsed": True, "position": [186, -21.5, 1]}
    main = {"title": "main", "attr": attributes, "ideas": below}
    (root,) = outline_of(title="r", ideas={"-1": main, "2": {"attr": {"style": {}}}}).roots
    right, left = root.children
    assert left.style == Style(text="#000000", fill="#ff0000", bold=True)
    assert (left.folded, left.side, left.position) == (True, "left", (-186, -21.5))
    assert (left.children[0].folded, left.children[0].position) == (False, None)
    assert (right.style, right.position) == (None, None)
    (root,) = outline_of(title="r", ideas={}, attr={"style": {"backgroundColor": "#0f0"}}).roots
    assert root.style == Style(fill="#00ff00")


def test_addresses_in_titles_are_links() -> None:
    title = "see https://a.example/x?y=1, (http://b.example/z) and http://c.example/说明。更多"
    (root,) = outline_of(title=title, ideas={}).roots
    assert root.text == title
    assert root.links == (
        "https://a.example/x?y=1",
        "http://b.example/z",
        "http://c.example/说明",
    )


def test_pictures() -> None:
    url = "data:image/png;base64," + base64.b64encode(as_file(drawn((40, 30)))).decode()
    icon = {"url": url, "width": 40, "height": 30, "position": "left"}
    note = {"contentType": "text/html", "content": f'words <img alt="x" src="{url}">'}
    ideas = {"1": {"attr": {"attachment": note}}, "2": {"attr": {"icon": {"url": "data:,x"}}}}
    (root,) = outline_of(title="r", ideas=ideas, attr={"icon": icon}).roots
    (image,) = root.images
    assert (bool(image.digest), image.width, image.height) == (True, 40, 30)
    in_note, damaged = root.children
    assert [image.digest for image in in_note.images] == [root.images[0].digest]
    assert [image.digest for image in damaged.images] == [""]


@pytest.mark.parametrize("odd", ["NaN", "Infinity", "1e999", "9" * 50])
def test_numbers_that_are_not_finite_count_as_missing(odd: str) -> None:
    url = "data:image/png;base64," + base64.b64encode(as_file(drawn((40, 30)))).decode()
    icon = f'"icon": {{"url": "{url}", "width": {odd}, "height": 15}}'
    below = f'{{"1": {{"title": "a", "attr": {{"position": [{odd}, 7]}}}}}}'
    file = f'{{"title": "r", "attr": {{{icon}}}, "ideas": {below}}}'
    (root,) = read(file.encode(), LIMITS).roots
    (image,) = root.images
    assert (image.width, image.height) == (20, 15)  # the height tells the width
    assert root.children[0].position == (0, 7)


@pytest.mark.parametrize("version", [2, 3])
def test_arrows_are_on_the_sheet_where_they_begin(version: int) -> None:
    style = {"style": {"color": "#FF0000", "label": "so"}}
    links = [
        {"ideaIdFrom": 1, "ideaIdTo": 2, "attr": style},
        {"ideaIdFrom": 3, "ideaIdTo": 3},
        {"ideaIdFrom": 99, "ideaIdTo": 1},
        5,
    ]
    ideas = {"1": {"id": 1, "ideas": {"1": {"id": 2}}}, "2": {"id": 3}}
    sheets = outline_of(title="r", id=0, formatVersion=version, ideas=ideas, links=links).sheets
    assert sheets[0].relationships[0] == Relationship("1", "2", "so", "#FF0000")
    assert [len(sheet.relationships) for sheet in sheets] == ([2] if version == 2 else [1, 1])


def test_raw_control_characters_and_latin_1() -> None:
    data = b'{"title": "caf\xe9\x01\tau lait", "ideas": {}}'
    assert read(data, LIMITS).roots[0].text == "café\tau lait"


@pytest.mark.parametrize("text", ['{"ideas": []}', '{"my": {"ideas": {}}}', '{"ideas": "none"}'])
def test_other_json_with_ideas_is_refused(text: str) -> None:
    with pytest.raises(NotAMap, match="JSON of another kind"):
        read(text.encode(), LIMITS)


def test_broken_json_names_the_line() -> None:
    with pytest.raises(BrokenFile, match="JSON is broken at line 2"):
        read(b'{"ideas": {},\n"title": "a" "b"}', LIMITS)
