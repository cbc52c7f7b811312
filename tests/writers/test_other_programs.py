"""VYM and Minder themselves open our exports, if they are installed (Debian 12's versions)."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from corpus_exports import Map
from mapshelf.model import (
    Boundary,
    Image,
    Marker,
    Outline,
    Relationship,
    Sheet,
    Summary,
    Task,
    Topic,
    TopicKind,
)
from mapshelf.writers.nesting import under_one_root
from program_check import PROGRAMS, check
from tests.readers.illustrated import picture
from topic_matches import in_order, matches

NEEDED: Final = ("Xvfb", "xdotool", "dbus-daemon", "gdbus")

LEFT: Final = Topic(
    "several\nlines",
    "left",
    side="left",
    note="a note",
    links=("https://example.org/a?b&c",),
    markers=(Marker("priority-1", ""), Marker("idea", ""), Marker("emoji-1f41d", "")),
    attributes=(("cost", "5"),),
    tags=("tag",),
    children=[
        Topic("folded", "f", folded=True, children=[Topic("<b>& low", "low", note="<i> & >\nb")])
    ],
)
RIGHT: Final = Topic(
    "a b c",
    "right",
    side="right",
    text_html="a <b>b</b> c",
    note="n",
    note_html="<p><b>n</b></p>",
    task=Task("done", 100),
    images=(Image("p", 40, 30), Image("p", 40, 30)),
    children=[Topic("remark", "call", kind=TopicKind.CALLOUT), Topic("\U0001f41d 蜂", "bee")],
)
ROOT: Final = Topic("central", "root", children=[LEFT, RIGHT, Topic("third", "third")])
OUTLINE: Final = Outline(
    (
        Sheet(
            ROOT,
            floating=(Topic("floating", "float", kind=TopicKind.FLOATING, position=(90, 90)),),
            relationships=(Relationship("left", "bee", "leads to"),),
            boundaries=(Boundary(("third",)),),
            summaries=(Summary(("third",), Topic("sum", "sum", kind=TopicKind.SUMMARY)),),
        ),
    )
)
MAP: Final = Map(Path("map"), OUTLINE, {"p": picture("red", (40, 30))})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "suffix", "kept"),
    [
        ("vym", "mm", ("topics", "notes", "links", "folded")),
        ("minder", "mm", ("topics", "notes", "arrows", "boundaries", "folded")),
        ("minder", "xmind", ("notes", "links", "arrows", "boundaries")),
        ("minder", "opml", ()),
    ],
)
def test_programs_open_exports_and_keep_what_they_support(
    name: str, suffix: str, kept: tuple[str, ...]
) -> None:
    program = PROGRAMS[name]
    if not all(map(shutil.which, (*NEEDED, program.command))):
        pytest.skip(f"needs {program.command} and {', '.join(NEEDED)}")
    result = check(program, suffix, [MAP])
    assert not result.failed
    for thing in kept:
        assert result.found[thing] == result.exported[thing] > 0, result.missing
    lost = result.exported["topics"] - result.found["topics"]
    # Minder has no callouts, floating topics and summaries, and shows HTML as source text.
    assert lost == {"xmind": 3, "opml": 1}.get(suffix, 0), result.missing


def test_missing_parts_of_an_export_are_reported() -> None:
    (sheet,) = OUTLINE.sheets
    same = Outline((replace(sheet, root=under_one_root(OUTLINE)),))
    found = matches(OUTLINE, same, "mm", in_order)
    assert found.found == found.exported
    assert not found.missing
    other = Outline((Sheet(Topic("central", "1", children=[Topic("other", "2")])),))
    found = matches(OUTLINE, other, "mm", in_order)
    assert (found.exported["topics"], found.found["topics"]) == (10, 1)
    kinds = {line.partition(":")[0] for line in found.missing}
    assert kinds == {*("topics", "notes", "links", "icons", "arrows", "arrow labels")} | {
        *("boundaries", "pictures", "tags", "tasks", "folded")
    }
