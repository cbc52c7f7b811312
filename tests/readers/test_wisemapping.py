"""WiseMapping: the habits of real files, each in its smallest form."""

import pytest

from mapshelf.errors import NotAMap
from mapshelf.model import Outline, Topic
from mapshelf.readers import Limits, read

LIMITS = Limits()


def outline_of(topics: str, version: str = "tango") -> Outline:
    return read(f'<map name="1" version="{version}">{topics}</map>'.encode(), LIMITS)


def test_central_topic_first_then_those_that_hang_on_nothing() -> None:
    outline = outline_of(
        '<topic id="2" text="loose"/><topic central="true" id="1" text="Centre"><topic id="3">'
        "<text><![CDATA[two\nlines]]></text><note><![CDATA[a <note>]]></note>"
        '<link url="http://x/"/><icon id="flag_blue"/></topic></topic><relationship/>'
    )
    assert outline.roots == (
        Topic("Centre", "1", children=[Topic("two\nlines", "3", "a <note>", links=("http://x/",))]),
        Topic("loose", "2"),
    )
    assert outline.software == "WiseMapping"


def test_formatted_text_and_notes() -> None:
    (root,) = outline_of(
        '<topic central="true"><content contentType="html"><![CDATA[<b>bold</b> title]]></content>'
        '<note contentType="html"><![CDATA[<p>a <b>b</b></p>]]></note></topic>'
    ).roots
    assert (root.text, root.note, root.note_html) == ("bold title", "a b", "<p>a <b>b</b></p>")


@pytest.mark.parametrize(
    ("note", "text"),
    [
        ('<note text="What%20now%3F%0A%C3%A9%20"/>', "What now?\né"),
        ('<note text="%E9t%E9"/>', "été"),
        ('<note text="100%25 of 5%25"/>', "100%25 of 5%25"),
        ('<note text="50%"/>', "50%"),
        ("<note><text><![CDATA[two\nlines]]></text></note>", "two\nlines"),
        ("<note><text><![CDATA[]]></text></note>", ""),
    ],
)
def test_notes_of_old_versions(note: str, text: str) -> None:
    data = f'<map name="8007"><topic central="true" text="x">{note}</topic></map>'.encode()
    assert read(data, LIMITS).roots[0].note == text


def test_the_central_topic_by_a_number() -> None:
    outline = outline_of('<topic text="loose"/><topic central="-1" text="Centre"/>')
    assert [root.text for root in outline.roots] == ["Centre", "loose"]


@pytest.mark.parametrize("version", ["tango", "pela", "beta", "unheard-of"])
def test_versions(version: str) -> None:
    assert outline_of('<topic central="true" text="x"/>', version).roots[0].text == "x"


def test_wechat_template_is_named() -> None:
    with pytest.raises(NotAMap, match="WeChat"):
        read(b'<view class="a"><text>b</text></view>', LIMITS)
