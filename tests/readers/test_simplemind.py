"""SimpleMind: cases from real files, each as a minimal example."""

import pytest

from mapshelf.errors import BrokenFile
from mapshelf.model import Outline, Topic
from mapshelf.readers import Limits, read
from tests.readers.samples import archive_of

LIMITS = Limits()
DOCTYPE = "<!DOCTYPE simplemind-mindmaps>"


def outline_of(topics: str, doctype: str = DOCTYPE, meta: str = "") -> Outline:
    text = (
        f'\ufeff<?xml version="1.0"?>\n{doctype}\n<simplemind-mindmaps gen-version="2.7.0">'
        f"<mindmap><meta>{meta}</meta><topics>{topics}</topics></mindmap></simplemind-mindmaps>"
    )
    return read(archive_of({"document/mindmap.xml": text}), LIMITS)


def test_flat_list_becomes_a_tree() -> None:
    outline = outline_of(
        '<topic id="2" parent="1" text="B"/><topic id="0" parent="-1" guid="g" text="Root"/>'
        '<topic id="1" parent="0" text="A\\Nsecond line"><note>a note</note>'
        '<link urllink="http://x/"/></topic>'
    )
    assert outline.roots == (
        Topic(
            "Root",
            "g",
            children=[
                Topic(
                    "A\nsecond line",
                    "1",
                    "a note",
                    links=("http://x/",),
                    children=[Topic("B", "2")],
                )
            ],
        ),
    )
    assert outline.software_version == "2.7.0"


def test_central_theme_comes_first_and_lost_topics_after_it() -> None:
    (sheet,) = outline_of(
        '<topic id="0" parent="-1" text="floating" x="30" y="5.50"/>'
        '<topic id="1" parent="-1" text="Centre" x="10" y="20"/>'
        '<topic id="2" parent="77" text="orphan"/><topic id="3" text="nobody\'s"/>',
        meta='<main-centraltheme id="1"/>',
    ).sheets
    assert sheet.root.text == "Centre"
    assert [topic.text for topic in sheet.floating] == ["floating", "orphan", "nobody's"]
    assert sheet.floating[0].position == (20.0, -14.5)


def test_same_id_twice_does_not_double_what_is_below() -> None:
    outline = outline_of(
        '<topic id="0" parent="-1" text="r"/><topic id="1" parent="0" text="a"/>'
        '<topic id="1" parent="0" text="b"/><topic id="2" parent="1" text="c"/>'
    )
    assert [topic.text for _, topic in outline.topics()] == ["r", "a", "c", "b"]


@pytest.mark.parametrize(
    "topics",
    [
        '<topic id="1" parent="1" text="own parent"/>',
        '<topic id="1" parent="2" text="a"/><topic id="2" parent="1" text="b"/>',
    ],
)
def test_circle(topics: str) -> None:
    with pytest.raises(BrokenFile, match="circle"):
        outline_of(f'<topic id="0" parent="-1" text="r"/>{topics}')


@pytest.mark.parametrize(
    "doctype",
    [
        '<!DOCTYPE simplemind-mindmaps [<!ENTITY a "b">]>',
        "<!DOCTYPE simplemind-mindmaps [ ]>",
        "<!DOCTYPE other>",
        f"<!-- {DOCTYPE} --><!DOCTYPE other>",
        DOCTYPE + DOCTYPE,
    ],
)
def test_any_other_doctype_is_refused(doctype: str) -> None:
    with pytest.raises(BrokenFile, match="DOCTYPE"):
        outline_of('<topic id="0" parent="-1" text="r"/>', doctype)


def test_no_doctype_at_all() -> None:
    assert outline_of('<topic id="0" parent="-1" text="r"/>', "").roots[0].text == "r"
