"""Real maps of other people, if the corpus is available: all of them are read completely.

These tests count topics independently of the readers, with patterns over the raw text or a simple
walk over the parsed file. A reader that loses topics would agree with itself.
"""

import csv
import html
import io
import json
import re
import zipfile
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree

import pytest

from mapshelf.errors import BrokenFile, NotAMap
from mapshelf.formats.inline_html import is_inline_html
from mapshelf.formats.outline_codec import decode_outline, encode_outline
from mapshelf.model import Outline
from mapshelf.readers import READERS, Limits, read, summary
from mapshelf.readers.parsing.content import Content
from mapshelf.readers.sandboxed_reader import ReadFile, RefusedFile, SandboxedReader
from tests.examples import is_full, some

REPOSITORY = Path(__file__).resolve().parents[2]
CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus"
MANIFEST = CORPUS / "manifest.tsv"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not MANIFEST.exists(), reason=f"the corpus of real maps is not at {CORPUS}"),
]

Row = dict[str, str]

MANY: Final = 10
"""Up to this many files of a format, all are tested."""

all_files = pytest.mark.skipif(
    not (MANIFEST.exists() and is_full()), reason="it reads all files: --hypothesis-profile full"
)

MISTOLD = {
    "dev/freemind/0270.mm": "es",
    "dev/freeplane/0232.mm": "nl",
    "dev/freeplane/0235.mm": "nl",
}
"""Maps in another language than in the manifest, found by reading them."""

NODE = re.compile(r"<(?:node|x-coggle-rootnode)[\s/>]")
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
TAG = re.compile(r"<[^>]*>")
MINDJET = "{http://schemas.mindjet.com/MindManager/Application/2003}"
XMIND = "{urn:xmind:xmap:xmlns:content:2.0}"


@cache
def rows() -> tuple[Row, ...]:
    if not MANIFEST.exists():
        return ()
    with MANIFEST.open(newline="") as file:
        table = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return tuple(row for row in table if row["split"] == "dev")


def of_formats(*formats: str) -> list[Row]:
    return [row for row in rows() if row["format"] in formats]


def conflicted(row: Row) -> bool:
    return "merge conflict" in row["note"]


def damaged(row: Row) -> bool:
    return "broken JSON" in row["note"]


def is_sound(row: Row) -> bool:
    return not (row["format"].startswith("not-") or conflicted(row) or damaged(row))


def data_of(row: Row) -> bytes:
    return (CORPUS / row["file"]).read_bytes()


def by_file(found: list[Row]) -> pytest.MarkDecorator:
    """Run the test for each file of a format, or for some files if there are many."""
    tried = [*found[:MANY], *some(found[MANY:], len(found))]
    return pytest.mark.parametrize("row", tried, ids=[row["file"] for row in tried])


@cache
def outline_at(file: str) -> Outline:
    return read((CORPUS / file).read_bytes(), Limits())


def outline_of(row: Row) -> Outline:
    outline = outline_at(row["file"])
    assert decode_outline(encode_outline(outline)) == outline
    return outline


def count(outline: Outline) -> int:
    return sum(1 for _ in outline.topics())


def letters(text: str) -> str:
    """Return ``text`` without white space, because readers may break lines elsewhere."""
    return "".join(text.split())


def member(row: Row, name: str) -> str:
    with zipfile.ZipFile(io.BytesIO(data_of(row))) as archive:
        return archive.read(name).decode("utf-8-sig")


def lost(said: list[str], outline: Outline) -> list[str]:
    """Return those of ``said`` that are neither the text of a topic nor part of a note."""
    kept = {letters(topic.text) for _, topic in outline.topics()}
    notes = "\n".join(letters(topic.note) for _, topic in outline.topics())
    return [text for text in said if letters(text) not in kept and letters(text) not in notes]


@by_file([row for row in of_formats("freemind", "freeplane") if not conflicted(row)])
def test_freemind_and_freeplane(row: Row) -> None:
    outline = outline_of(row)
    source = COMMENT.sub("", data_of(row).decode())
    assert count(outline) == len(NODE.findall(source)) - braces(source)
    declared = re.search(r"nodes=(\d+)", row["note"])
    assert declared is None or len(re.findall(r"<node[\s/>]", source)) == int(declared[1])
    assert letters(outline.roots[0].text) == letters(root_text(source))
    assert outline.software == ("FreeMind" if row["format"] == "freemind" else "Freeplane")


def root_text(source: str) -> str:
    """Return the text of the first node, found with patterns only."""
    node = re.search(r"<node\s([^>]*)>", source)
    assert node is not None
    text = re.search(r'\bTEXT="([^"]*)"', " " + node[1])
    if re.search(r'\bLOCALIZED_TEXT="new_mindmap"', node[1]):
        return "New mind map"
    if text is not None:
        return without_tags(html.unescape(text[1]))
    rich = re.search(r'<richcontent TYPE="NODE"[^>]*>(.*?)</richcontent>', source, re.DOTALL)
    assert rich is not None
    return html.unescape(TAG.sub("", re.sub(r"(?s)<head>.*?</head>", "", rich[1])))


def without_tags(text: str) -> str:
    return html.unescape(TAG.sub("", text)) if text.lstrip().startswith("<html") else text


def braces(source: str) -> int:
    """Return the number of nodes that are not topics but the ends of Freeplane's braces."""
    if 'NAME="SummaryNode"' not in source and 'NAME="FirstGroupNode"' not in source:
        return 0
    silent = 0
    declared = re.sub(r"&(?!amp;|lt;|gt;|quot;|apos;|#)", "&amp;", source)
    for node in ElementTree.fromstring(declared).iter("node"):
        hooks = {hook.get("NAME") for hook in node.findall("hook")}
        other = {part.tag for part in node} - {"hook", "edge", "font", "node"}
        if node.get("TEXT") == "" and not other:
            below = len(node.findall("node"))
            silent += "SummaryNode" in hooks and below == 1 and node.get("FOLDED") != "true"
            silent += "FirstGroupNode" in hooks and "SummaryNode" not in hooks and not below
    return silent


@by_file([row for row in of_formats("freeplane") if conflicted(row)])
def test_conflicted_map_is_broken(row: Row) -> None:
    with pytest.raises(BrokenFile, match="git merge conflict"):
        read(data_of(row), Limits())


@by_file(of_formats("xmind-old"))
def test_older_xmind(row: Row) -> None:
    outline = outline_of(row)
    with zipfile.ZipFile(io.BytesIO(data_of(row))) as archive:
        name = next(name for name in archive.namelist() if name.lstrip("/") == "content.xml")
        document = ElementTree.fromstring(archive.read(name))
    assert count(outline) == sum(1 for _ in document.iter(f"{XMIND}topic"))
    sheets = re.search(r"sheets=(\d+)", row["note"])
    assert sheets is not None
    assert len(outline.roots) == int(sheets[1])
    title = document.findtext(f"{XMIND}sheet/{XMIND}topic/{XMIND}title", "")
    assert letters(outline.roots[0].text) == letters(title)
    assert outline.software == "XMind"
    if row["software"].startswith("XMind "):
        assert f"XMind {outline.software_version}" == row["software"]


@by_file(of_formats("xmind-zen"))
def test_newer_xmind(row: Row) -> None:
    outline = outline_of(row)
    with zipfile.ZipFile(io.BytesIO(data_of(row))) as archive:
        sheets = json.loads(archive.read("content.json"))
    assert count(outline) == sum(topics_in(sheet["rootTopic"]) for sheet in sheets)
    assert outline.roots[0].text == sheets[0]["rootTopic"]["title"].strip()
    assert "警告" not in {root.text for root in outline.roots}
    assert (outline.software, outline.software_version) == (
        "XMind",
        row["software"].removeprefix("Vana").strip(),
    )


def topics_in(topic: dict[str, Any]) -> int:
    children = topic.get("children", {}).values()
    return 1 + sum(topics_in(child) for kind in children for child in kind)


@by_file(of_formats("mmap"))
def test_mindmanager(row: Row) -> None:
    outline = outline_of(row)
    source = member(row, "Document.xml")
    document = ElementTree.fromstring(source)
    labels = [found.text for found in outline.sheets[0].relationships if found.text]
    assert count(outline) + len(labels) == len(re.findall(r"<ap:Topic[\s>]", source))
    said = [element.get("PlainText", "") for element in document.iter(f"{MINDJET}Text")]
    assert [text for text in lost(said, outline) if text not in labels] == []
    central = document.find(f"{MINDJET}OneTopic/{MINDJET}Topic/{MINDJET}Text")
    assert central is not None
    assert letters(outline.roots[0].text) == letters(central.get("PlainText", ""))
    assert outline.software == "MindManager"
    assert outline.created is not None
    assert outline.modified is not None


HEADING = re.compile(r"^#{1,6} ", re.MULTILINE)
EMPHASIS = re.compile(r"(?<!\w)(\*\*|\*|_)(?=\S)([^*_\n]+)(?<=\S)\1(?!\w)")


@by_file(of_formats("itmz"))
def test_ithoughts(row: Row) -> None:
    outline = outline_of(row)
    source = member(row, "mapdata.xml")
    assert count(outline) == len(re.findall(r"<topic[\s>]", source))
    texts = [html.unescape(text) for text in re.findall(r'\stext="([^"]*)"', source)]
    notes = [html.unescape(note) for note in re.findall(r'\snote="([^"]*)"', source)]
    said = [EMPHASIS.sub(r"\2", HEADING.sub("", text)) for text in texts]
    assert lost([*said, *notes], outline) == []
    assert letters(outline.roots[0].text) == letters(said[0])
    assert f"ithoughts {outline.software_version} (" in row["software"] or (
        f"ithoughtsx.mas {outline.software_version} (" in row["software"]
    )


@by_file(of_formats("opml"))
def test_opml(row: Row) -> None:
    outline = outline_of(row)
    source = COMMENT.sub("", data_of(row).decode("cp1252", "replace"))
    outlines = len(re.findall(r"<outline[\s/>]", source))
    tops = ElementTree.fromstring(data_of(row)).findall("body/outline")
    assert count(outline) == outlines + (len(tops) > 1)
    declared = re.search(r"outlines=(\d+)", row["note"])
    assert declared is not None
    assert outlines == int(declared[1])
    title = re.search(r"<title>(.*?)</title>", source)
    assert title is not None
    expected = html.unescape(title[1]) if len(tops) > 1 else tops[0].get("text", "")
    assert outline.roots[0].text == expected
    said = [html.unescape(text) for text in re.findall(r'\stext="([^"]*)"', source)]
    said = [html.unescape(TAG.sub("", text)) if is_inline_html(text) else text for text in said]
    assert source.isascii() is False or lost(said, outline) == []
    if " by " in row["software"]:
        assert f"by {outline.software} v{outline.software_version} " in row["software"]


@by_file(of_formats("smmx"))
def test_simplemind(row: Row) -> None:
    outline = outline_of(row)
    source = member(row, "document/mindmap.xml")
    assert count(outline) == len(re.findall(r"<topic\s", source))
    said = [html.unescape(text) for text in re.findall(r'<topic\s[^>]*\stext="([^"]*)"', source)]
    assert lost(said, outline) == []
    assert outline.roots[0].text == said[0]
    parents = re.findall(r'<topic\s[^>]*\sparent="([^"]*)"', source)
    assert len(outline.roots) == parents.count("-1")
    assert outline.software_version == "2.7.0"


@by_file(of_formats("vym"))
def test_vym(row: Row) -> None:
    outline = outline_of(row)
    with zipfile.ZipFile(io.BytesIO(data_of(row))) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".xml"))
        source = archive.read(name).decode()
    centres = len(re.findall(r"<mapcenter\s", source))
    assert count(outline) == len(re.findall(r"<branch\s", source)) + centres
    assert 1 + len(outline.sheets[0].floating) == centres
    headings = re.findall(r'<heading\s[^>]*\stext="([^"]*)"', source)
    headings += re.findall(r"(?s)<heading\s[^>]*[^/]>(.*?)</heading>", source)
    assert len(headings) == count(outline)
    assert lost([vym_heading(heading) for heading in headings], outline) == []
    assert f"VYM {outline.software_version}" == row["software"]


def vym_heading(source: str) -> str:
    """Return the text of a heading, found with patterns only."""
    text = html.unescape(source.replace("<![CDATA[", "").replace("]]>", ""))
    text = text.replace('\\"', '"').replace("\\n", " ")
    if "<html>" in text:
        return html.unescape(TAG.sub("", re.sub(r"(?s)<head>.*?</head>", "", text)))
    return re.sub(r"<br\s*/?>", "", text)


@by_file(of_formats("mindnode"))
def test_mindnode(row: Row) -> None:
    outline = outline_of(row)
    source = member(row, "contents.xml")
    assert count(outline) == source.count("<key>nodeID</key>")
    texts = re.findall(r"<key>htmlText</key>\s*<string>(.*?)</string>", source, re.DOTALL)
    said = [html.unescape(TAG.sub("", html.unescape(text))) for text in texts]
    assert len(said) == count(outline)
    assert lost(said, outline) == []
    assert outline.software == "MindNode"


@by_file(of_formats("nm5"))
def test_novamind(row: Row) -> None:
    outline = outline_of(row)
    source = member(row, "content.xml")
    kinds = re.findall(r'<topic-node\s[^>]*\btype="(\w+)"', source)
    beside = [kind for kind in kinds if kind in ("Boundary", "LinkLine")]
    assert count(outline) == len(kinds) - len(beside)
    said = [
        html.unescape(TAG.sub("", text))
        for text in re.findall(r"(?s)<text-run\b[^>]*[^/]>(.*?)</text-run>", source)
    ]
    everything = letters("".join(topic.text + topic.note for _, topic in outline.topics()))
    assert [text for text in said if letters(text) not in everything] == []
    assert outline.roots[0].text == "Your Flight Plan"


@by_file([row for row in of_formats("mup") if not damaged(row)])
def test_mindmup(row: Row) -> None:
    outline = outline_of(row)
    source = data_of(row).decode()
    titles = re.findall(r'"title":\s*("(?:[^"\\]|\\.)*")', source)
    # Since version 3 the file has its own title, a copy of the title of its first map.
    newer = row["software"].endswith("=3")
    assert count(outline) == len(titles) - newer
    said = [json.loads(title) for title in titles]
    assert lost(said, outline) == []
    assert outline.roots[0].text == json.loads(source)["title"].strip()
    notes = re.findall(r'"attachment":\s*\{', source)
    pictures = len(re.findall(r'"content":\s*"<img src=[^>]*>"', source))
    noted = sum(1 for _, topic in outline.topics() if topic.note)
    assert noted >= (len(notes) - pictures) * 0.9


@by_file([row for row in of_formats("mup") if damaged(row)])
def test_damaged_mindmup(row: Row) -> None:
    """From the first title on, all bytes are shifted by some bits: no text can be recovered."""
    with pytest.raises(BrokenFile, match="JSON is broken at line"):
        read(data_of(row), Limits())


@by_file(of_formats("km"))
def test_kityminder(row: Row) -> None:
    outline = outline_of(row)
    said = [json.loads(text) for text in re.findall(r'"text":\s*(".*?")\n', data_of(row).decode())]
    assert len(said) == count(outline)
    assert [topic.text for _, topic in outline.topics()] == said
    assert f"KityMinder {outline.software_version}" == row["software"]


@by_file(of_formats("nb-mmd"))
def test_nb_mindmap(row: Row) -> None:
    outline = outline_of(row)
    source = re.sub(r"(?s)<pre>.*?</pre>|^```.*?^```", "", data_of(row).decode(), flags=re.M)
    headings = re.findall(r"^(#+)(.*)$", source, re.MULTILINE)
    words = [letters(re.sub(r"<br/>|\\(.)", r"\1", heading)) for _, heading in headings]
    assert [letters(topic.text) for _, topic in outline.topics()] == words
    assert [depth + 1 for depth, _ in outline.topics()] == [len(marks) for marks, _ in headings]
    blocks = re.findall(r"(?s)^- (LINK|NOTE|FILE)\n<pre>(.*?)</pre>", data_of(row).decode(), re.M)
    kept = [
        *(link for _, topic in outline.topics() for link in topic.links),
        *(topic.note for _, topic in outline.topics()),
    ]
    assert all(any(html.unescape(text).strip() in part for part in kept) for _, text in blocks)


@by_file(of_formats("markmap"))
def test_markmap(row: Row) -> None:
    outline = outline_of(row)
    front, body = re.split(r"(?m)^---\n", data_of(row).decode())[1:]
    body = re.sub(r"(?ms)^```.*?^```", "", body)
    topics = re.findall(r"^(?:#+|\s*(?:-|\d\.)) (.*)$", body, re.MULTILINE)
    assert count(outline) == 1 + len(topics)
    assert f"title: {outline.roots[0].text}\n" in front
    # Only words are compared: marks are removed, and links are kept elsewhere.
    expected = re.findall(r"\w+", re.sub(r"\]\([^)]*\)|<!--.*?-->", " ", " ".join(topics)))
    found = " ".join(topic.text for _, topic in outline.topics())
    assert [word for word in expected if word not in found and word != "x"] == []
    links = re.findall(r"[^!]\[[^]]*\]\(([^)]*)\)", body)
    assert [link for _, topic in outline.topics() for link in topic.links] == links


@by_file(of_formats("emmx"))
def test_edrawmind(row: Row) -> None:
    outline = outline_of(row)
    with zipfile.ZipFile(io.BytesIO(data_of(row))) as archive:
        page = ElementTree.fromstring(archive.read("page/page.xml"))
    # In this drawing, topics have their own style, connectors do not.
    shapes = [shape for shape in page.iter("Shape") if shape.find("Layout/FlexoStyle") is not None]
    assert count(outline) == len(shapes)
    words = [letters("".join(p.text or "" for p in s.iterfind("Text//tp"))) for s in shapes]
    assert sorted(letters(topic.text) for _, topic in outline.topics()) == sorted(words)
    above = {s.get("ID"): part.get("V") for s in shapes for part in s.iterfind("LevelData/Super")}
    assert above == {
        child.id: topic.id for _, topic in outline.topics() for child in topic.children
    }
    (centre,) = (shape for shape in shapes if shape.get("Type") == "MainIdea")
    assert [root.text for root in outline.roots] == [centre.findtext("Text//tp")]
    notes = sorted(letters("".join(part.itertext())) for part in page.iter("Note"))
    assert sorted(letters(t.note) for _, t in outline.topics() if t.note) == notes
    assert row["software"].startswith(f"EdrawMind/MindMaster {outline.software_version}")


@by_file(of_formats("not-mm"))
def test_source_text_is_not_a_map(row: Row) -> None:
    with pytest.raises(NotAMap, match=r"not a mind map: .*Objective-C"):
        read(data_of(row), Limits())


@by_file(of_formats("not-km", "not-mmd"))
def test_other_text_is_not_a_map(row: Row) -> None:
    with pytest.raises(NotAMap, match="not a mind map"):
        read(data_of(row), Limits())


def test_files_of_all_formats_through_the_sandbox() -> None:
    """Every file of any format gives one result, and no reader fails with an unexpected error.

    ``tests/cli`` imports all files of the most frequent formats.
    """
    asked = some([row for row in rows() if (CORPUS / row["file"]).is_file()], 400)
    paths = [str(CORPUS / row["file"]) for row in asked]
    with SandboxedReader(workers=2) as reader:
        results = list(reader.read(paths))
    assert [result.path for result in results] == paths
    refused = {result.path: result.reason for result in results if isinstance(result, RefusedFile)}
    assert not [reason for reason in refused.values() if "please report" in reason]
    read_paths = {result.path for result in results if isinstance(result, ReadFile)}
    assert read_paths == {str(CORPUS / row["file"]) for row in asked if is_sound(row)}
    assert all(result.title for result in results if isinstance(result, ReadFile))


@all_files
def test_the_documentation_has_the_current_counts() -> None:
    files, topics = Counter[str](), Counter[str]()
    for row in filter(is_sound, rows()):
        content = Content(data_of(row), Limits(), Path(row["file"]).name)
        reader = next(reader for reader in READERS if reader.sniff(content))
        files[reader.name] += 1
        topics[reader.name] += count(outline_at(row["file"]))
    page = (REPOSITORY / "docs" / "formats.md").read_text(encoding="utf-8")
    told = {
        row["name"]: (row["files"], row["topics"])
        for row in re.finditer(
            r"^\| \[?(?P<name>[^]|\[]+?)(?:\]\([^)]*\))? \|[^|]*\|[^|]*"
            r"\| (?P<files>none|\d+) \| ?(?P<topics>[\d,]*) ?\|$",
            page,
            re.MULTILINE,
        )
    }
    assert told == {
        reader.name: (f"{files[reader.name]}", f"{topics[reader.name]:,}")
        if files[reader.name]
        else ("none", "")
        for reader in READERS
    }
    refused = len(rows()) - files.total()
    assert f"{len(rows())} files made by other people" in page
    assert f"{refused} files are refused" in page


@all_files
def test_detected_languages_are_right_or_empty() -> None:
    """Compare with the manifest, which has the main language of each repository."""
    told = {row["file"]: row["language"] for row in rows() if is_sound(row)} | MISTOLD
    sure = [row for row in rows() if len(told.get(row["file"], "")) == 2]
    guesses = {row["file"]: summary.language(outline_at(row["file"])) for row in sure}
    wrong = [file for file, guess in guesses.items() if guess not in ("", told[file])]
    assert wrong == []
    right = sum(guess != "" for guess in guesses.values())
    page = (REPOSITORY / "docs" / "formats.md").read_text(encoding="utf-8")
    assert f"{right} of {len(sure)} maps" in page
