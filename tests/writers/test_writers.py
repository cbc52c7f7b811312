"""What other programs can rely on in an export, checked with parsers that are not ours."""

import io
import json
import re
import zipfile
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from html import escape
from typing import Any, Final
from xml.etree import ElementTree

import pytest
from hypothesis import example, given
from markdown_it import MarkdownIt

from mapshelf.formats.inline_html import is_inline_html
from mapshelf.model import Outline, Relationship, Sheet, Style, Task, Topic, sheets_of
from mapshelf.readers import READERS
from mapshelf.writers import WRITERS
from mapshelf.writers.facts import is_formula
from mapshelf.writers.plain import one_line, sound
from tests.examples import examples
from tests.outlines import OUTLINES as EVERYTHING
from tests.writers.outlines import broad, chain, outlines

WRITE: Final = {writer.suffix: writer.write for writer in WRITERS}
SHEETS: Final = Outline(sheets_of((Topic("One", children=[Topic("a")]), Topic("Two\nlines"))))
MOMENT: Final = 1_706_745_599_123


def texts(outline: Outline) -> list[tuple[int, str]]:
    return [(depth, sound(topic.text)) for depth, topic in outline.topics()]


def test_the_table_of_writers_matches_the_addresses() -> None:
    suffixes = ["md", "opml", "mm", "xmind", "mmd", "json", "txt"]
    assert [writer.suffix for writer in WRITERS] == suffixes
    read = {suffix for reader in READERS for suffix in (*reader.suffixes, *reader.shared)}
    assert {f".{writer.suffix}" for writer in WRITERS} - read == {".json", ".txt"}


def test_no_media_type_runs_in_browsers() -> None:
    for writer in WRITERS:
        essence = writer.media_type.partition(";")[0]
        assert not re.search("html|xml|svg|javascript", essence)
        assert (";" in writer.media_type) == essence.startswith("text/")


@cache
def deep() -> Outline:
    return chain(256)


@cache
def large() -> Outline:
    return broad(examples(100_000), 200)


@pytest.mark.slow
@pytest.mark.parametrize("suffix", WRITE)
@pytest.mark.parametrize("make", [deep, large])
def test_deep_and_large_maps_are_written(suffix: str, make: Callable[[], Outline]) -> None:
    outline = make()
    export = WRITE[suffix](outline)
    if suffix == "xmind":
        export = members(export)["content.json"]
    assert all(one_line(topic.text).encode() in export for topic in list_of(outline)[-3:])


def members(export: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(export)) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


def list_of(outline: Outline) -> list[Topic]:
    return [topic for _, topic in outline.topics()]


@pytest.mark.slow
@pytest.mark.parametrize("suffix", WRITE)
@given(outline=outlines())
def test_exports_are_text_in_utf_8_and_always_the_same(suffix: str, outline: Outline) -> None:
    export = WRITE[suffix](outline)
    assert export == WRITE[suffix](outline)
    if suffix == "xmind":
        assert all(json.loads(data) for data in members(export).values())
        return
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", export.decode())
    assert export.endswith(b"\n")


# -- XML -------------------------------------------------------------------------------------


@given(outline=outlines())
def test_freemind_is_xml_with_a_node_for_each_topic(outline: Outline) -> None:
    export = WRITE["mm"](outline)
    assert not re.search("[\x7f-\uffff]", export.decode())
    nodes = ElementTree.fromstring(export).findall("node")
    assert len(nodes) == 1
    assert export.startswith(b'<map version="0.9.0">\n<node ')
    found = [node.get("TEXT") for node in nodes[0].iter("node")][len(outline.roots) > 1 :]
    for node_text, (_, text) in zip(found, texts(outline), strict=True):
        assert node_text == text or node_text is None


def test_freemind_has_links_ids_notes_and_dates() -> None:
    topic = Topic("a", "ID_1", "b", "<p><b>b</b><br>&nbsp;<a href='x?a&amp;b'>", ("u", "v w"))
    (root,) = ElementTree.fromstring(
        WRITE["mm"](Outline(sheets_of((topic,)), created=MOMENT, modified=MOMENT + 1))
    )
    dates = {"CREATED": str(MOMENT), "MODIFIED": str(MOMENT + 1)}
    assert root.attrib == {"ID": "ID_1", "TEXT": "a", "LINK": "u", **dates}
    note, further = root
    assert note.attrib == {"TYPE": "NOTE"}
    paragraph = note.find("html/body/p")
    assert paragraph is not None
    assert [part.tag for part in paragraph.iter()] == ["p", "b", "br", "a"]
    assert "".join(paragraph.itertext()) == "b\xa0"
    assert further.attrib == {"NAME": "link", "VALUE": "v w"}


@given(outline=outlines())
def test_opml_is_xml_with_an_outline_for_each_topic(outline: Outline) -> None:
    document = ElementTree.fromstring(WRITE["opml"](outline))
    assert document.attrib == {"version": "2.0"}
    assert [part.get("text") for part in document.iter("outline")] == [
        f"<span>{escape(text.strip(), quote=False)}</span>".replace("\n", "<br>")
        if is_inline_html(text)
        else text
        for _, text in texts(outline)
    ]
    assert len(document.findall("body/outline")) == len(outline.roots)


def test_opml_has_a_head_and_links() -> None:
    outline = Outline(
        sheets_of((Topic("a", links=("u", "v", "w", "x")),)), author="<Ann>", created=MOMENT
    )
    document = ElementTree.fromstring(WRITE["opml"](outline))
    assert [(part.tag, part.text) for part in document[0]] == [
        ("title", "a"),
        ("dateCreated", "Wed, 31 Jan 2024 23:59:59 GMT"),
        ("ownerName", "<Ann>"),
    ]
    created = parsedate_to_datetime(document.findtext("head/dateCreated", ""))
    assert created == datetime(2024, 1, 31, 23, 59, 59, tzinfo=UTC)
    links = {"type": "link", "url": "u", "htmlUrl": "v", "xmlUrl": "w"}
    assert document[1][0].attrib == {"text": "a", **links}


# -- XMind -----------------------------------------------------------------------------------


def test_xmind_is_an_archive_as_xmind_writes_it() -> None:
    relationship = Relationship("b", "r", "why", "#ff0000")
    root = Topic("r", id="r", links=("#b",), children=[Topic("b", id="b"), Topic("")])
    export = WRITE["xmind"](
        Outline((Sheet(root, relationships=(relationship,)), Sheet(Topic("s"))))
    )
    found = members(export)
    assert set(found) == {"content.json", "metadata.json", "manifest.json"}
    assert json.loads(found["metadata.json"])["creator"]["name"] == "Vana"
    assert json.loads(found["manifest.json"]) == {
        "file-entries": {"content.json": {}, "metadata.json": {}}
    }
    first, second = json.loads(found["content.json"])
    (arrow,) = first["relationships"]
    assert (arrow["end1Id"], arrow["end2Id"], arrow["title"]) == ("b", "r", "why")
    assert first["rootTopic"]["href"] == "xmind:#b"
    names = [first["rootTopic"], *first["rootTopic"]["children"]["attached"], second["rootTopic"]]
    assert [topic["id"] for topic in names] == ["r", "b", "topic-1", "topic-2"]
    assert [first["title"], second["title"]] == ["Map 1", "Map 2"]


def test_xmind_fills_the_right_side_first() -> None:
    sides = [Topic("a", side="right"), Topic("b", side="left"), Topic("c", side="left")]
    root = Topic("r", children=sides)
    content = members(WRITE["xmind"](Outline(sheets_of((root,)))))["content.json"]
    (extension,) = json.loads(content)[0]["rootTopic"]["extensions"]
    assert extension["content"] == [{"name": "right-number", "content": "1"}]
    root.children.reverse()
    assert b"right-number" not in WRITE["xmind"](Outline(sheets_of((root,))))


# -- Markdown --------------------------------------------------------------------------------


@dataclass
class Shown:
    """What a Markdown program shows of a document: headings and items, each with its depth."""

    topics: list[tuple[int, str]]
    others: set[str]


def shown(export: bytes) -> Shown:
    """Parse with markdown-it, which Markmap is built on; its Python port comes with Rich."""
    front, _, text = export.decode().removeprefix("---\n").partition("---\n")
    assert front == "markmap:\n  colorFreezeLevel: 2\n"
    parser = MarkdownIt("commonmark", {"maxNesting": 1000}).enable(["table", "strikethrough"])
    found = Shown([], set())
    depth, waiting = 0, False
    for token in parser.parse(text):
        depth += (token.type == "bullet_list_open") - (token.type == "bullet_list_close")
        if token.type in ("heading_open", "list_item_open"):
            found.topics.append((depth, ""))
            waiting = True
        elif token.type == "inline":
            if waiting:
                found.topics[-1] = depth, plain(token.children or [])
            waiting = False
            found.others |= {part.type for part in token.children or []}
        elif not re.fullmatch("(bullet_list|list_item|paragraph|heading)_(open|close)", token.type):
            found.others.add(token.type)
    return found


def plain(tokens: list[Any]) -> str:
    pieces = {"softbreak": "\n", "html_inline": "\n"}
    return "".join(pieces.get(token.type, token.content) for token in tokens)


@pytest.mark.slow
@example(
    outline=Outline(sheets_of((Topic("1. a"), Topic("b", children=[Topic("- c #", note="---")]))))
)
@given(outline=outlines())
def test_markdown_programs_see_the_same_tree(outline: Outline) -> None:
    told = [(depth, text.strip()) for depth, text in texts(outline)]
    if len(outline.roots) > 1:
        told = [(depth + 1, text) for depth, text in told]
    found = shown(WRITE["md"](outline))
    topics = found.topics[len(outline.roots) > 1 :]
    assert [(depth, " ".join(text.split())) for depth, text in topics] == [
        (depth, " ".join(text.split())) for depth, text in told
    ]
    assert found.others <= {"text", "text_special", "html_inline", "link_open", "link_close"}


# -- the others ------------------------------------------------------------------------------


def test_mermaid_syntax_in_texts_is_escaped() -> None:
    root = Topic('1. "a" #35; %%{init}%% <b> `x`\ny', children=[Topic(""), Topic("style: #")])
    assert WRITE["mmd"](Outline(sheets_of((root,)))).decode() == (
        "mindmap\n"
        ' ["1#46; #34;a#34; #35;35; #37;#37;{init}#37;#37; #60;b#62; #96;x#96;<br/>y"]\n'
        '  [" "]\n'
        '  ["style#58; #35;"]\n'
    )


@pytest.mark.slow
@given(outline=outlines())
def test_mermaid_is_a_line_for_each_topic(outline: Outline) -> None:
    first, *lines = WRITE["mmd"](outline).decode().splitlines()
    assert first == "mindmap"
    assert len(lines) == len(texts(outline)) + (len(outline.roots) > 1)
    assert all(re.fullmatch(r' +\["[^"%`]+"\]', line) for line in lines)


@pytest.mark.slow
@given(outline=outlines())
def test_text_is_a_line_for_each_topic(outline: Outline) -> None:
    lines = WRITE["txt"](outline).decode().removesuffix("\n").split("\n")
    assert lines == ["\t" * depth + one_line(text) for depth, text in texts(outline)]


MAP_KEYS: Final = (
    *("format", "version", "software", "software_version", "template", "author", "copyright"),
    *("created", "modified", "language", "topic_count", "depth", "sheets"),
)


@given(outline=outlines())
def test_json_contains_everything(outline: Outline) -> None:
    document = json.loads(WRITE["json"](outline))
    assert tuple(document) == MAP_KEYS
    assert (document["format"], document["version"]) == ("mapshelf-outline", 2)
    for name in ("software", "software_version", "author", "copyright"):
        assert document[name] == sound(getattr(outline, name))
    assert document["template"] == outline.template
    for name in ("created", "modified"):
        assert milliseconds(document[name]) == getattr(outline, name)
    assert document["language"] == outline.language
    want = [(depth, sounded(topic)) for depth, topic in outline.topics()]
    assert document["topic_count"] == len(want)
    assert document["depth"] == 1 + max(depth for depth, _ in want)
    assert [found for sheet in document["sheets"] for found in from_json(sheet["root"])] == want


def milliseconds(text: str | None) -> int | None:
    if text is None:
        return None
    assert text.endswith("Z")
    return round(datetime.fromisoformat(text).timestamp() * 1000)


def sounded(topic: Topic) -> Topic:
    return Topic(
        sound(topic.text),
        sound(topic.id),
        sound(topic.note),
        sound(topic.note_html),
        tuple(map(sound, topic.links)),
    )


def from_json(root: dict[str, Any]) -> Any:
    pending = [(0, root)]
    while pending:
        depth, found = pending.pop()
        pending.extend((depth + 1, child) for child in reversed(found.pop("children")))
        links = tuple(link["target"] for link in found.pop("links", ()))
        yield depth, Topic(**found, links=links)


@pytest.mark.slow
@given(EVERYTHING.map(lambda outline: replace(outline, created=None, modified=None)))
def test_json_has_all_parts_of_every_topic(outline: Outline) -> None:
    document = json.loads(WRITE["json"](outline))
    for sheet, found in zip(outline.sheets, document["sheets"], strict=True):
        assert found["title"] == sound(sheet.title)
        assert [
            (arrow["from"], arrow["to"], arrow["text"], arrow.get("color", ""))
            for arrow in found["relationships"]
        ] == [(*map(sound, arrow[:3]), arrow.colour) for arrow in sheet.relationships]
        assert [line["topics"] for line in found["boundaries"]] == [
            list(map(sound, line.topics)) for line in sheet.boundaries
        ]
        trees = [found["root"], *found["floating"], *(row["topic"] for row in found["summaries"])]
        for tree, given_tree in zip(trees, sheet.trees(), strict=True):
            compare(tree, given_tree)


def compare(found: dict[str, Any], topic: Topic) -> None:
    assert (found["id"], found["text"]) == (sound(topic.id), sound(topic.text))
    assert found.get("kind", "attached") == topic.kind.value
    assert found.get("markers", []) == [sound(marker.name) for marker in topic.markers]
    assert found.get("tags", []) == list(map(sound, topic.tags))
    assert found.get("attributes", []) == [list(map(sound, pair)) for pair in topic.attributes]
    assert found.get("formula", "") == sound(topic.formula)
    assert found.get("folded", False) == topic.folded
    assert found.get("side", "") == topic.side
    assert found.get("position") == (list(topic.position) if topic.position else None)
    assert len(found.get("images", [])) == len(topic.images)
    assert [file["size"] for file in found.get("attachments", [])] == [
        size for _, size in topic.attachments
    ]
    style = topic.style or Style()
    assert found.get("style", {}) == {k: v for k, v in asdict(style).items() if v}
    task = found.get("task", {})
    wanted = topic.task or Task()
    assert (task.get("progress"), task.get("priority")) == (wanted.progress, wanted.priority)
    assert (task.get("state", ""), task.get("due", "")) == (wanted.state, wanted.due)
    for child, given_child in zip(found["children"], topic.children, strict=True):
        compare(child, given_child)


def test_several_sheets_are_kept_if_the_format_has_them() -> None:
    for suffix in ("opml", "json", "txt"):
        assert b"One, Two" not in WRITE[suffix](SHEETS).replace(b"<title>One, Two lines<", b"")
    for suffix in ("md", "mm", "mmd"):
        assert b"One, Two lines" in WRITE[suffix](SHEETS)
        assert b"One, Two" not in WRITE[suffix](replace(SHEETS, sheets=sheets_of(SHEETS.roots[:1])))


@pytest.mark.parametrize(
    ("text", "formula", "same"),
    [
        ("", "x", True),
        ("$x_1$", "x_1", True),
        ("$$ x_1 $$", "x_1", True),
        (r"\[x_1\]", "x_1", True),
        ("so $x$ is", r"\text{so }x\text{ is}", True),
        ("% a remark\n$x$", "x", True),
        ("☑ $x$", "x", True),
        ("Area", "x", False),
        ("so $x$ is", "x", False),
        ("x", "", False),
    ],
)
def test_a_text_equal_to_its_formula(text: str, formula: str, same: bool) -> None:
    assert is_formula(Topic(text, formula=formula)) is same


# -- links ------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["md", "opml", "mm", "xmind"])
def test_links_that_run_scripts_are_left_out_and_others_kept(suffix: str) -> None:
    scripts = (
        *("javascript:ran(1)", " JavaScript:ran(2)", "java\nscript:ran(3)", "vbscript:ran(4)"),
        *("java script:ran(5)", "data:text/html,ran(6)", " d ata:ran(7)", "file:///C:/ran.exe"),
        *("file:///ran", "FILE:ran.mm.exe", "file:\\\\host\\ran.lnk", "f ile:///ran.mm"),
    )
    kept = ("zotero:select/1", "b.mm", "https://example.org/?q=javascript:x")
    written = WRITE[suffix](Outline(sheets_of((Topic("a", links=(*scripts, *kept)),))))
    if suffix == "xmind":
        written = zipfile.ZipFile(io.BytesIO(written)).read("content.json")
    assert b"ran" not in written
    for link in kept:
        assert link.encode() in written
    only = WRITE[suffix](Outline(sheets_of((Topic("a", links=scripts),))))
    none = WRITE[suffix](Outline(sheets_of((Topic("a"),))))
    if suffix != "xmind":
        assert only == none


@pytest.mark.parametrize("suffix", ["md", "opml", "mm", "xmind"])
@pytest.mark.parametrize("link", ["file:///maps/c.mm", "file:c.xmind", "data/c.pdf", "#x"])
def test_links_to_maps_and_to_files_beside_the_map_are_kept(suffix: str, link: str) -> None:
    written = WRITE[suffix](Outline(sheets_of((Topic("a", links=(link,)),))))
    if suffix == "xmind":
        written = zipfile.ZipFile(io.BytesIO(written)).read("content.json")
    assert link.encode() in written
