"""Relationships, boundaries and summaries refer to existing topics, and everything is cleaned."""

from dataclasses import replace
from typing import Any, Final

import pytest

from mapshelf.model import (
    Attachment,
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
from mapshelf.readers.parsing.limits import Limits
from mapshelf.readers.parsing.sheets import MOST_MEMBERS, MOST_RELATIONSHIPS, sound_sheets
from mapshelf.readers.parsing.topic_tree import grow

ROOT: Final = Topic("r", id="r", children=[Topic("a", id="a"), Topic("b", id="b")])


def sound(sheet: Sheet) -> Sheet:
    return sound_sheets(Outline((sheet,))).sheets[0]


def test_references_to_missing_topics_are_left_out() -> None:
    sheet = sound(
        Sheet(
            ROOT,
            relationships=(Relationship("a", "b"), Relationship("a", "x"), Relationship("", "b")),
            boundaries=(Boundary(("a", "x", "a")), Boundary(("x",)), Boundary(())),
            summaries=(Summary(("x", "b"), Topic("both", id="s")),),
        )
    )
    assert sheet.relationships == (Relationship("a", "b"),)
    assert sheet.boundaries == (Boundary(("a",)),)
    assert [summary.topics for summary in sheet.summaries] == [("b",)]


def test_floating_topics_and_summaries_can_be_referred_to() -> None:
    floating, summary = Topic("f", id="f"), Topic("s", id="s")
    sheet = sound(
        Sheet(
            ROOT,
            floating=(floating,),
            summaries=(Summary(("a",), summary),),
            relationships=(Relationship("f", "s"),),
        )
    )
    assert sheet.relationships == (Relationship("f", "s"),)
    assert (floating.kind, summary.kind) == (TopicKind.FLOATING, TopicKind.SUMMARY)


def test_texts_and_colours_of_a_sheet_are_cleaned() -> None:
    sheet = sound(
        Sheet(
            ROOT,
            title=" A\n\x00title ",
            background="RED",
            relationships=(Relationship("a", "b", "x\u202ey" * 5000, "no colour"),),
        )
    )
    assert (sheet.title, sheet.background) == ("A title", "#ff0000")
    arrow = sheet.relationships[0]
    assert arrow.text.startswith("xyxy")
    assert len(arrow.text.encode()) <= 4096
    assert arrow.colour == ""


def test_arrows_are_limited_and_unique() -> None:
    arrows = tuple(Relationship("a", "b", str(number)) for number in range(MOST_RELATIONSHIPS + 5))
    assert sound(Sheet(ROOT, relationships=arrows)).relationships == arrows[:MOST_RELATIONSHIPS]
    assert len(sound(Sheet(ROOT, relationships=arrows[:1] * 3)).relationships) == 1


PLAIN: Final = Topic("t")


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({"tags": (" a\nb ", "", "a b", "c")}, {"tags": ("a b", "c")}),
        (
            {"attributes": (("n\n", " v\nw "), ("", ""))},
            {"attributes": (("n", "v\nw"),)},
        ),
        (
            {"attachments": (Attachment(" f\x00 ", -5), Attachment(" "))},
            {"attachments": (Attachment("f", 0),)},
        ),
        (
            {"images": (Image("d", float("nan"), 1e9, "a\nb"),)},
            {"images": (Image("d", 0.0, 0.0, "a b"),)},
        ),
        (
            {"task": Task("no state", 150, 12, "tomorrow", "2026-01-31", ("", "Ann"))},
            {"task": Task("", 100, None, "", "2026-01-31", ("Ann",))},
        ),
        ({"task": Task("done", -5, 0)}, {"task": Task("done", 0, None)}),
        ({"task": Task(start="soon")}, {"task": None}),
        ({"position": (float("inf"), 0.0)}, {"position": None}),
        ({"position": (-5.0, 7.5)}, {"position": (-5.0, 7.5)}),
        ({"text_html": "<b onclick='x'>t</b><script>x"}, {"text_html": "<b>t</b>"}),
        ({"formula": " x\x00^2 "}, {"formula": "x^2"}),
        (
            {"markers": (Marker("star", "s"),) * 300},
            {"markers": (Marker("star", "s"),) * 100},
        ),
    ],
)
def test_attachments_of_a_topic_are_cleaned(given: dict[str, Any], wanted: dict[str, Any]) -> None:
    (found,) = grow([replace(PLAIN, **given)], lambda topic: topic, lambda _: (), Limits())
    assert found == replace(PLAIN, **wanted)


def test_attachments_of_a_topic_are_limited() -> None:
    many = tuple(str(number) for number in range(1000))
    given = Topic(
        "t",
        tags=many,
        attributes=tuple((name, "x" * 10_000) for name in many),
        images=tuple(Image("", alt=name) for name in many),
    )
    (found,) = grow([given], lambda topic: topic, lambda _: (), Limits())
    assert (len(found.tags), len(found.attributes), len(found.images)) == (100, 100, 100)
    assert len(found.attributes[0][1].encode()) <= 4096


def test_members_of_boundaries_and_summaries_are_limited() -> None:
    children = [Topic(str(number), f"t{number}") for number in range(200)]
    root = Topic("root", "r", children=children)
    everything = tuple(child.id for child in children)
    count = 5 * MOST_MEMBERS // len(children)
    kept = sound(
        Sheet(
            root,
            boundaries=tuple(Boundary(everything, str(number)) for number in range(count)),
            summaries=tuple(Summary(everything, Topic(f"{n}", f"s{n}")) for n in range(count)),
        )
    )
    assert len(kept.boundaries) == count // 5
    assert len(kept.summaries) == count, "a summary was lost"
    assert {len(summary.topics) for summary in kept.summaries[: count // 5]} == {200}
    assert {len(summary.topics) for summary in kept.summaries[count // 5 + 1 :]} == {1}
