"""Real maps of other people, where they are at hand: all are read, and read wholly.

What a reader says is compared with counts made here by other means (patterns over the raw text, a
plain walk over the parsed file), since a reader that loses topics would agree with itself.
"""

import csv
import html
import io
import json
import re
import zipfile
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from mapshelf.errors import BrokenFile, NotAMap
from mapshelf.model import Outline
from mapshelf.outlines import decode_outline, encode_outline
from mapshelf.readers import Limits, read
from mapshelf.readers.sandbox import ReadFile, RefusedFile, SandboxedReader

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus"
MANIFEST = CORPUS / "manifest.tsv"

pytestmark = pytest.mark.skipif(
    not MANIFEST.exists(), reason=f"the corpus of real maps is not at {CORPUS}"
)

Row = dict[str, str]

NODE = re.compile(r"<node[\s/>]")
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
TAG = re.compile(r"<[^>]*>")
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


def data_of(row: Row) -> bytes:
    return (CORPUS / row["file"]).read_bytes()


def by_file(found: list[Row]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("row", found, ids=[row["file"] for row in found])


def outline_of(row: Row) -> Outline:
    outline = read(data_of(row), Limits())
    assert decode_outline(encode_outline(outline)) == outline
    return outline


def count(outline: Outline) -> int:
    return sum(1 for _ in outline.topics())


def letters(text: str) -> str:
    """Return ``text`` without white space, where line breaks are a matter of taste."""
    return "".join(text.split())


@by_file([row for row in of_formats("freemind", "freeplane") if not conflicted(row)])
def test_freemind_and_freeplane(row: Row) -> None:
    outline = outline_of(row)
    source = COMMENT.sub("", data_of(row).decode())
    assert count(outline) == len(NODE.findall(source))
    declared = re.search(r"nodes=(\d+)", row["note"])
    assert declared is None or count(outline) == int(declared[1])
    assert letters(outline.roots[0].text) == letters(root_text(source))
    assert outline.software == ("FreeMind" if row["format"] == "freemind" else "Freeplane")


def root_text(source: str) -> str:
    """Return the text of the first node, by patterns alone."""
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


@by_file(of_formats("not-mm"))
def test_source_text_is_not_a_map(row: Row) -> None:
    with pytest.raises(NotAMap, match=r"not a mind map: .*Objective-C"):
        read(data_of(row), Limits())


@by_file(of_formats("not-km", "not-mmd"))
def test_other_text_is_not_a_map(row: Row) -> None:
    with pytest.raises(NotAMap, match="not a mind map"):
        read(data_of(row), Limits())


def test_whole_corpus_through_the_sandbox() -> None:
    """Every file, of any format, gives one result; no reader fails in a way nobody foresaw."""
    paths = [str(CORPUS / row["file"]) for row in rows() if (CORPUS / row["file"]).is_file()]
    with SandboxedReader(workers=2) as reader:
        results = list(reader.read(paths))
    assert [result.path for result in results] == paths
    refused = {result.path: result.reason for result in results if isinstance(result, RefusedFile)}
    assert not [reason for reason in refused.values() if "please report" in reason]
    readable = of_formats("freemind", "freeplane", "xmind-old", "xmind-zen")
    expected = {str(CORPUS / row["file"]) for row in readable if not conflicted(row)}
    read_paths = {result.path for result in results if isinstance(result, ReadFile)}
    assert expected <= read_paths
    assert all(result.title for result in results if isinstance(result, ReadFile))
