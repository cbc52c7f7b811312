"""PlantUML: notations for depth, and lines of a mind map that are not topics."""

import pytest

from mapshelf.errors import BrokenFile, NotAMap
from mapshelf.model import Topic
from mapshelf.readers import Limits, read

LIMITS = Limits()


def roots(body: str) -> tuple[Topic, ...]:
    return read(f"@startmindmap\n{body}\n@endmindmap\n".encode(), LIMITS).roots


def texts(body: str) -> list[tuple[int, str]]:
    return [(depth, topic.text) for root in roots(body) for depth, topic in root.walk()]


TREE = [(0, "r"), (1, "a"), (2, "b"), (1, "c")]


@pytest.mark.parametrize(
    "body",
    [
        "* r\n** a\n*** b\n** c",
        "  * r\n  ** a\n  *** b\n  ** c",
        "* r\n\t* a\n\t\t* b\n\t* c",
        "  * r\n    * a\n      * b\n    * c",
        "# r\n## a\n### b\n## c",
        "+ r\n++ a\n+++ b\n++ c",
        "+r\n++a\n---b\n--c",
        "*[#Orange] r\n**[#FFBBCC]_ a\n***_ b\n** c <<green>>",
    ],
)
def test_notations_of_depth(body: str) -> None:
    expected = [(0, "r"), (1, "a"), (1, "b"), (1, "c")] if "---" in body else TREE
    assert texts(body) == expected


def test_sides_are_branches_of_their_own() -> None:
    assert texts("+ r\n++ a\n-- b\n+++ a1\n--- b1") == [
        (0, "r"),
        (1, "a"),
        (2, "a1"),
        (1, "b"),
        (2, "b1"),
    ]
    assert texts("* r\n** a\nleft side\n** b\nright side\n*** a1")[2] == (2, "a1")


def test_several_roots_and_several_blocks_are_sheets() -> None:
    text = (
        "prose\n@startmindmap\n* one\n** a\n* two\n@endmindmap\n* prose\n@startmindmap\n* three\n"
    )
    outline = read(text.encode(), LIMITS)
    assert [root.text for root in outline.roots] == ["one", "two", "three"]
    assert outline.software == "PlantUML"


def test_text_over_several_lines() -> None:
    assert texts("*:one\n two\n;\n**_:a; b\nc; <<s>>\n** d\\ne\n***:never closed") == [
        (0, "one\n two"),
        (1, "a; b\nc"),
        (1, "d\ne"),
        (2, "never closed"),
    ]


def test_lines_that_are_no_topics() -> None:
    body = (
        "title * no\ncaption x\nskinparam x y\n!include other.puml\n' * comment\n"
        "/' * block\n* of comment '/\n/' one line '/\n<style>\n* no\n</style>\n"
        "legend right\n* no\nendlegend\nheader\n* no\nend header\n* r"
    )
    assert texts(body) == [(0, "r")]


def test_links_and_marks_of_creole() -> None:
    root = roots(
        "* **bold** //it// <color:red>red</color> <b>x</b> [[https://a.example label]] 2*3 a//b"
        "\n** [[https://b.example{tip} words here]] [[c.html]] https://d.example/e"
    )[0]
    assert root.text == "bold it red x label 2*3 a//b"
    assert root.links == ("https://a.example",)
    assert root.children == [
        Topic("words here c.html https://d.example/e", links=("https://b.example", "c.html"))
    ]


def test_other_diagrams_are_no_maps() -> None:
    with pytest.raises(NotAMap, match="PlantUML diagram of another kind"):
        read(b"' remark\n@startuml\nA -> B\n@enduml\n", LIMITS)
    with pytest.raises(NotAMap):
        read(b"it begins with a word like @startmindmap somewhere", LIMITS)


def test_block_without_topics_is_broken() -> None:
    with pytest.raises(BrokenFile, match="no topics"):
        roots("title t")
