"""Every marker has a glyph and a meaning, whatever its name in the map."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mapshelf.model import Marker, Task, Topic
from mapshelf.model.markers import COLOURED, PROGRESS, SYMBOLS, emoji, is_known, marker
from mapshelf.render.glyphs import COLOURS, MARKS, glyph, mark, markers_of, said

VOCABULARY = sorted(
    name
    for name in (
        *SYMBOLS,
        *COLOURED,
        *(f"{name}-{colour}" for name in COLOURED for colour in COLOURS),
        *(f"priority-{number}" for number in range(10)),
        *(f"progress-{share}" for share in PROGRESS),
        *(f"task-{state}" for state in ("todo", "started", "paused", "done", "cancelled")),
        *(f"letter-{letter}" for letter in "abcxyz"),
        *("month-12", "weekday-7", "face-happy", "face-tired", "arrow-up-left", "arrow-refresh"),
    )
)
DOT = glyph("other-thing")


@pytest.mark.slow
@pytest.mark.parametrize("name", VOCABULARY)
def test_every_name_of_the_vocabulary_has_a_glyph(name: str) -> None:
    assert is_known(name)
    found = glyph(name)
    assert found
    assert found != DOT
    assert found.colour in COLOURS
    assert re.fullmatch("[MmLlHhVvCcSsQqTtAaZz0-9., -]+", found.path)


def test_the_whole_vocabulary_is_covered() -> None:
    for kind in ("face", "arrow", "month", "weekday", "letter"):
        names = [name for name in every_name() if name.startswith(f"{kind}-")]
        assert names
        assert not [name for name in names if glyph(name) == DOT]


def every_name() -> list[str]:
    from mapshelf.model import markers  # noqa: PLC0415

    return sorted(markers._VOCABULARY)


def test_names_of_markers_set_their_colour() -> None:
    assert [glyph(f"flag-{colour}").colour for colour in COLOURS] == [*COLOURS]  # type: ignore[union-attr]
    assert glyph("priority-1") != glyph("priority-2")
    assert glyph("progress-25") != glyph("progress-75")


@given(st.text() | st.sampled_from(["progress-999", "priority-77", "flag-mauve", "month-"]))
def test_unknown_markers_get_a_dot(name: str) -> None:
    found = glyph(name)
    assert found is None if name.startswith("emoji-") or name == "emoji" else found
    assert isinstance(said(Marker(name, "")), str)


def test_meanings_of_markers_are_readable() -> None:
    wanted = {
        "priority-1": "priority 1",
        "progress-50": "progress 50 %",
        "flag-red": "flag red",
    }
    assert {name: said(marker(name, "x")) for name in wanted} == wanted
    assert said(marker("", "Strange One")) == "Strange One"
    assert said(emoji("\U0001f680")) == "\U0001f680"
    assert said(Marker("emoji-110000-d800-41", "")) == "A"


def test_a_task_is_shown_unless_a_marker_says_the_same() -> None:
    topic = Topic("t", task=Task("started", 50, 3), markers=(marker("priority-1", "x"),))
    assert [one.name for one in markers_of(topic)] == ["priority-1", "task-started", "progress-50"]


def test_each_mark_has_its_own_shape() -> None:
    assert len({mark(name) for name in MARKS}) == len(MARKS)
