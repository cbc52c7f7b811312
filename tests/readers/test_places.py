"""No topic is at a place that cannot be computed with, whatever the numbers of a file are.

Readers of several formats compute places only after the trees have grown: from two numbers of the
file, whose difference may be infinite although both are finite.
"""

import plistlib
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from mapshelf.formats.outline_codec import decode_outline
from mapshelf.model import Attachment, Style, Topic
from mapshelf.readers import Limits
from mapshelf.readers.parsing.topic_tree import grow
from mapshelf.readers.sandboxed_reader import ReadFile, read_file
from tests.readers.samples import archive_of


def wisemapping(x: str) -> bytes:
    return (
        '<map name="a" version="tango"><topic central="true" text="r" id="0"/>'
        f'<topic position="{x},300" text="far" id="1"/></map>'
    ).encode()


def mindnode(x: str) -> bytes:
    def node(text: str, place: str) -> dict[str, object]:
        return {"title": {"text": text}, "nodeID": text, "location": place, "subnodes": []}

    nodes = [node("r", "{0, 0}"), node("far", f"{{{x}, 300}}")]
    return plistlib.dumps({"mindMap": {"mainNodes": nodes, "mainNode": 1}})


def simplemind(x: str) -> bytes:
    topics = (
        f'<topic id="0" parent="-1" x="-{x}" y="0" text="r"/>'
        f'<topic id="1" parent="-1" x="{x}" y="300" text="far"/>'
    )
    inner = f"<mindmap><topics>{topics}</topics></mindmap>"
    text = f'<?xml version="1.0"?><simplemind-mindmaps>{inner}</simplemind-mindmaps>'
    return archive_of({"document/mindmap.xml": text})


def ithoughts(x: str) -> bytes:
    topics = f'<topic uuid="A" text="r"/><topic uuid="B" text="far" position="{{{x},300}}"/>'
    return archive_of({"mapdata.xml": f"<iThoughts><topics>{topics}</topics></iThoughts>"})


def vym(x: str) -> bytes:
    centres = (
        f'<mapcenter absPosX="-{x}" absPosY="0"><heading>r</heading></mapcenter>'
        f'<mapcenter absPosX="{x}" absPosY="300"><heading>far</heading></mapcenter>'
    )
    text = f'<?xml version="1.0"?><!DOCTYPE vymmap>\n<vymmap version="2.8.18">{centres}</vymmap>'
    return archive_of({"map.xml": text})


FORMATS: Final[dict[str, Callable[[str], bytes]]] = {
    "wxml": wisemapping,
    "mindnode": mindnode,
    "smmx": simplemind,
    "itmz": ithoughts,
    "vym": vym,
}
"""For each format, a map with a floating topic at a place, as far as the format allows."""


def floating(folder: Path, suffix: str, x: str) -> Topic:
    path = folder / f"map.{suffix}"
    path.write_bytes(FORMATS[suffix](x))
    read = read_file(str(path), Limits())
    assert isinstance(read, ReadFile), read
    (found,) = decode_outline(read.outline).sheets[0].floating
    return found


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("x", ["1e999", "1e308", "9" * 400, "1e7"])
def test_a_topic_at_an_impossible_place_has_none(tmp_path: Path, suffix: str, x: str) -> None:
    topic = floating(tmp_path, suffix, x)
    assert topic.text == "far"
    # Some readers take a number that is not finite for 0.
    assert topic.position in (None, (0.0, 300.0))
    assert topic.position is None or x in ("1e999", "9" * 400)


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_topic_at_a_possible_place_keeps_it(tmp_path: Path, suffix: str) -> None:
    position = floating(tmp_path, suffix, "40").position
    assert position
    assert position[1] == 300.0


@pytest.mark.parametrize("odd", [1e308, -5.0, float("nan")])
def test_impossible_sizes_count_as_not_set(odd: float) -> None:
    def grown(topic: Topic) -> Topic:
        return grow([topic], lambda one: one, lambda _: (), Limits())[0]

    assert grown(Topic("t", style=Style(size=odd))).style is None
    assert grown(Topic("t", style=Style(bold=True, line_width=odd))).style == Style(bold=True)
    assert grown(Topic("t", style=Style(size=12.0))).style == Style(size=12.0)


def test_an_impossible_size_of_an_attachment_counts_as_unknown(tmp_path: Path) -> None:
    """Such a number cannot be stored."""
    path = tmp_path / "map.mind"
    root = '{"title": "r", "children": [], "attachments": [{"filename": "a", "size": 1e300}]}'
    path.write_bytes(archive_of({"map.json": f'{{"map_version": "2.0", "root": {root}}}'}))
    read = read_file(str(path), Limits())
    assert isinstance(read, ReadFile), read
    (topic,) = decode_outline(read.outline).roots
    assert topic.attachments == (Attachment("a"),)
