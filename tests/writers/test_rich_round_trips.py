"""Round trips of everything besides plain text: export a map, and read the export again.

``tests.writers.test_round_trips`` is about text; this module is about everything else. For each
format, a function returns how a topic should look after the round trip.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from html import escape
from typing import Final

import pytest
from hypothesis import given, settings

from mapshelf.formats.freemind_icons import FREEMIND_ICONS, freemind_icon
from mapshelf.formats.marker_emoji import marker_emoji
from mapshelf.formats.xmind_ids import XMIND_IDS
from mapshelf.model import (
    Boundary,
    Marker,
    Outline,
    Relationship,
    Sheet,
    Style,
    Summary,
    Task,
    Topic,
    TopicKind,
)
from mapshelf.model.markers import emoji, is_known, marker
from mapshelf.readers import Limits, read
from mapshelf.readers.formats.freemind_markers import markers_of
from mapshelf.readers.formats.xmind_markers import xmind_marker
from mapshelf.readers.parsing.xml_files import parse_xml
from mapshelf.writers import WRITERS
from mapshelf.writers.nesting import gathered
from tests.examples import examples
from tests.writers.rich_outlines import rich_outlines

WRITE: Final = {writer.suffix: writer.write for writer in WRITERS}


def again(outline: Outline, suffix: str) -> Outline:
    return read(WRITE[suffix](outline), Limits(), name=f"map.{suffix}")


def facts(topic: Topic) -> list[tuple[str, str]]:
    """Return the fields of a topic's task, as names and values."""
    task = topic.task or Task()
    told = {
        "state": task.state,
        "progress": "" if task.progress is None else f"{task.progress}%",
        "priority": "" if task.priority is None else str(task.priority),
        "start": task.start,
        "due": task.due.replace("T", " "),
        "resources": ", ".join(task.resources),
    }
    return [(name, value) for name, value in told.items() if value]


# -- FreeMind --------------------------------------------------------------------------------


def in_freemind(topic: Topic, *, central: bool, main: bool) -> Topic:
    """Task fields without an icon become attributes; bold or italic text gets a font size."""
    task = topic.task or Task()
    icons = [icon.name for icon in topic.markers]
    icons += [{"todo": "task-todo", "done": "task-done"}.get(task.state, "")]
    icons += [f"priority-{task.priority}" if task.priority else ""]
    icons += [f"progress-{task.progress}" if task.progress in (0, 50, 100) else ""]
    named = dict.fromkeys(filter(None, icons))
    shown = {"progress"} if task.progress in (0, 50, 100) else set()
    shown |= {"priority"} | ({"state"} if task.state in ("todo", "done") else set())
    attributes = [*topic.attributes, *(fact for fact in facts(topic) if fact[0] not in shown)]
    progress = next((int(name[9:]) for name in named if name.startswith("progress-")), None)
    floating = topic.kind is TopicKind.FLOATING
    return replace(
        topic,
        text=f"${topic.formula}$" if topic.formula else topic.text,
        note_html="<p>a</p><p>b</p>" if topic.note else "",
        links=topic.links[:1],
        markers=tuple(Marker(name, FREEMIND_ICONS[name][0]) for name in named),
        task=None if progress is None else Task(progress=progress),
        attributes=(*attributes, *(("link", link) for link in topic.links[1:])),
        style=in_freemind_style(topic.style) if topic.style else None,
        folded=topic.folded and bool(topic.children) and not central,
        side=topic.side if main or floating else "",
    )


def in_freemind_style(style: Style) -> Style:
    return replace(style, size=style.size or 12.0 * (style.bold or style.italic))


@pytest.mark.slow
@settings(max_examples=examples(100))
@given(rich_outlines())
def test_freemind_keeps_nearly_everything(outline: Outline) -> None:
    (sheet,) = outline.sheets
    for topic in sheet.floating:
        x, _ = topic.position or (0, 0)
        topic.side = topic.side or ("left" if x < 0 else "right")
    (found,) = again(outline, "mm").sheets
    main = {id(child) for child in sheet.root.children}
    summaries = {id(summary.topic) for summary in sheet.summaries}
    for made, given_topic in pairs(found, sheet):
        want = in_freemind(
            given_topic,
            central=given_topic is sheet.root,
            main=id(given_topic) in main,
        )
        if made.position:
            assert made.position == pytest.approx(want.position, abs=1)
        if id(given_topic) in summaries:
            want.side = made.side
        assert bare(made) == bare(want)
        extra = boundary_words(sheet, given_topic.id)
        assert made.attributes == (*want.attributes, *extra)
        assert made.shown_attributes == tuple(dict.fromkeys(name for name, _ in made.attributes))
    assert set(found.relationships) == set(sheet.relationships)
    assert set(found.boundaries) == {line._replace(text="") for line in sheet.boundaries}
    assert sorted(summed(found)) == sorted(summed(sheet))
    assert found.background == sheet.background


def boundary_words(sheet: Sheet, topic: str) -> Iterator[tuple[str, str]]:
    for line in sheet.boundaries:
        if topic in line.topics and line.text:
            yield "boundary", line.text


def pairs(found: Sheet, given_sheet: Sheet) -> Iterator[tuple[Topic, Topic]]:
    """Yield every topic of the export with the topic that was written."""
    back = {topic.id: topic for tree in found.trees() for _, topic in tree.walk()}
    written = [topic for tree in given_sheet.trees() for _, topic in tree.walk()]
    assert sorted(back) == sorted(topic.id for topic in written)
    for topic in written:
        made = back[topic.id]
        assert [child.id for child in made.children] == [child.id for child in topic.children]
        yield made, topic


def bare(topic: Topic) -> Topic:
    return replace(topic, children=[], attributes=(), shown_attributes=(), position=None)


def summed(sheet: Sheet) -> list[tuple[tuple[str, ...], str]]:
    return [(topics, topic.id) for topics, topic in sheet.summaries]


def test_a_summary_without_adjacent_topics_becomes_a_topic() -> None:
    branches = [Topic(name, id=name) for name in "abcd"]
    apart = Summary(("a", "c"), Topic("apart", id="s", kind=TopicKind.SUMMARY))
    nothing = Summary((), Topic("nothing", id="n", kind=TopicKind.SUMMARY))
    outline = Outline((Sheet(Topic("r", id="r", children=branches), summaries=(apart, nothing)),))
    for suffix in ("mm", "md", "mmd", "opml", "txt"):
        export = WRITE[suffix](outline).decode()
        assert export.index("apart") > export.index("c")
        assert "nothing" in export
    (found,) = again(outline, "mm").sheets
    assert [child.id for child in found.root.children] == ["a", "b", "c", "s", "d", "n"]
    (found,) = again(outline, "xmind").sheets
    assert summed(found) == [(("a", "b", "c"), "s")]
    assert [topic.id for topic in found.floating] == ["n"]


def test_summaries_of_each_other_are_not_lost() -> None:
    first = Topic("first", id="s", kind=TopicKind.SUMMARY, children=[Topic("x", id="x")])
    second = Topic("second", id="t", kind=TopicKind.SUMMARY, children=[Topic("y", id="y")])
    sheet = Sheet(Topic("r", id="r"), summaries=(Summary(("y",), first), Summary(("x",), second)))
    for suffix in ("mm", "opml", "md", "mmd", "xmind"):
        assert len(list(again(Outline((sheet,)), suffix).topics())) == 5


def test_callouts_are_free_nodes_in_freemind_and_callouts_in_xmind() -> None:
    remark = Topic("remark", id="c", kind=TopicKind.CALLOUT)
    branch = Topic("b", id="b", children=[remark, Topic("d", id="d")])
    outline = Outline((Sheet(Topic("r", id="r", children=[branch])),))
    for suffix in ("mm", "xmind"):
        (root,) = again(outline, suffix).roots
        kinds = {child.id: child.kind for child in root.children[0].children}
        assert kinds == {"c": TopicKind.CALLOUT, "d": TopicKind.ATTACHED}


def test_canvas_details_of_freeplane_are_kept() -> None:
    far = Topic("far", id="f", kind=TopicKind.CALLOUT, position=(-120.0, 40.0))
    left = Topic("left", id="l", kind=TopicKind.CALLOUT, position=(-200.0, -90.0))
    numbered = [Topic("a", id="a", number="1", children=[far]), Topic("b", id="b", side="left")]
    numbered[0].children.append(Topic("c", id="c", number="1.1", style=Style(line_hidden=True)))
    numbered[1].children.append(left)
    sheet = Sheet(
        Topic("r", id="r", children=numbered),
        relationships=(
            Relationship("c", "c", point=(-60.0, 20.0)),
            Relationship("l", "l", point=(35.0, -8.0)),
        ),
    )
    (found,) = again(Outline((sheet,)), "mm").sheets
    assert found.relationships == sheet.relationships
    back = {topic.id: topic for _, topic in found.root.walk()}
    for name, given_topic in {topic.id: topic for _, topic in sheet.root.walk()}.items():
        made = back[name]
        assert (made.kind, made.number) == (given_topic.kind, given_topic.number)
        assert made.style == given_topic.style
        if given_topic.position:
            assert made.position == pytest.approx(given_topic.position, abs=1)


# -- XMind -----------------------------------------------------------------------------------


def in_xmind(topic: Topic, *, placed: bool) -> Topic:
    """A task becomes markers and task fields; what XMind has no field for is in the note."""
    task = topic.task or Task()
    ids = [XMIND_IDS[icon.name] for icon in topic.markers]
    if task.priority and not any(name.startswith("priority-") for name in ids):
        ids.append(f"priority-{task.priority}")
    state = {"done": "task-done", "paused": "task-pause"}.get(task.state, "")
    state = state or XMIND_IDS.get(f"progress-{task.progress}", "")
    if state and not any(name.startswith("task-") for name in ids):
        ids.append(state)
    lines = [*topic.links[1:], *(": ".join(pair) for pair in topic.attributes)]
    return replace(
        topic,
        text=topic.text or topic.formula,
        note="\n".join(filter(None, (topic.note, *lines))),
        links=topic.links[:1],
        markers=tuple(map(xmind_marker, dict.fromkeys(ids))),
        task=task if task != Task() else None,
        attributes=(),
        folded=topic.folded and bool(topic.children),
        side="",
        position=topic.position if placed else None,
    )


def attached(sheet: Sheet) -> list[Topic]:
    return [topic for topic in sheet.root.children if topic.kind is TopicKind.ATTACHED]


@pytest.mark.slow
@settings(max_examples=examples(100))
@given(rich_outlines(most=2))
def test_xmind_keeps_everything_but_attributes(outline: Outline) -> None:
    for found, sheet in zip(again(outline, "xmind").sheets, outline.sheets, strict=True):
        for made, topic in pairs(found, sheet):
            want = in_xmind(topic, placed=topic in sheet.floating or topic in sheet.root.children)
            # The reader keeps the line breaks of formatted text.
            made.text_html = made.text_html.replace("\n", "<br>")
            assert replace(made, children=[], side="") == replace(want, children=[])
        sides = [topic.side for topic in attached(sheet)]
        if "" not in sides and sides == sorted(
            sides, reverse=True
        ):  # XMind fills the right side first
            assert [topic.side for topic in attached(found)] == sides
        if len(set(sides)) > 1:
            assert found.clockwise == sheet.clockwise
        assert found.title == sheet.title
        # In XMind, all arrows have their head at the end.
        arrows = {arrow._replace(heads="end") for arrow in sheet.relationships}
        assert set(found.relationships) == arrows
        assert set(found.boundaries) == set(sheet.boundaries)
        assert sorted(summed(found)) == sorted(summed(sheet))
        assert found.background == sheet.background


def test_xmind_has_boundaries_of_any_siblings_and_formatted_notes() -> None:
    branches = [Topic(name, id=name) for name in "abcd"]
    branches[0].note, branches[0].note_html = "n", "<p><b>n</b></p>"
    branches[0].attributes = (("k", "<v>"),)
    line = Boundary(("a", "b", "d", "r"), "words")
    outline = Outline((Sheet(Topic("r", id="r", children=branches), boundaries=(line,)),))
    (found,) = again(outline, "xmind").sheets
    assert set(found.boundaries) == {
        Boundary(topics, "words") for topics in (("a", "b"), ("d",), ("r",))
    }
    topic = found.root.children[0]
    assert (topic.note, topic.note_html) == (
        "n\nk: <v>",
        f"<p><b>n</b></p><p>{escape('k: <v>')}</p>",
    )


def test_unknown_markers_become_labels_in_xmind() -> None:
    markers = (marker("penguin", "penguin"), marker("", "my icon"), emoji("\U0001f41d"))
    outline = Outline((Sheet(Topic("r", id="r", markers=markers, tags=("t",))),))
    (root,) = again(outline, "xmind").roots
    assert (root.markers, root.tags) == ((), ("t", "\U0001f427", "my icon", "\U0001f41d"))
    own = tuple(map(xmind_marker, ("c_symbol_drink", "star-dark-green", "made-up")))
    outline = Outline((Sheet(Topic("r", id="r", markers=own)),), software="XMind")
    (root,) = again(outline, "xmind").roots
    assert (root.markers, root.tags) == (own, ())


# -- Markdown and OPML -----------------------------------------------------------------------


def lines_of(topic: Topic, *, tags: bool) -> list[str]:
    told = [fact for fact in facts(topic) if fact not in (("state", "todo"), ("state", "done"))]
    lines = [": ".join(fact) for fact in (*topic.attributes, *told)]
    return [*lines, *([f"tags: {', '.join(topic.tags)}"] if tags and topic.tags else [])]


def in_markdown(topic: Topic, *, central: bool) -> Topic:
    """A task becomes a check box; whatever has no notation is a line of the note."""
    state = topic.task.state if topic.task and not central else ""
    box = {"todo": "☐ ", "started": "☐ ", "paused": "☐ ", "done": "☑ "}.get(state, "")
    text = f"{topic.text}" if topic.text else f"$${topic.formula}$$"
    formula = "" if topic.text else topic.formula
    html = topic.text_html if not box else ""
    return Topic(
        box + text,
        note="\n".join(filter(None, (topic.note, *lines_of(topic, tags=True)))),
        links=() if topic.formula else topic.links,
        text_html=f"{box}{topic.text_html}" if topic.text_html else html,
        task={"☐ ": Task("todo"), "☑ ": Task("done")}.get(box),
        formula=formula,
        folded=topic.folded and bool(topic.children) and not central,
    )


def in_opml(topic: Topic, *, central: bool) -> Topic:
    """Whatever has no attribute in OPML is a line of the note."""
    state = topic.task.state if topic.task else ""
    return Topic(
        topic.text or topic.formula,
        topic.id,
        note="\n".join(filter(None, (topic.note, *lines_of(topic, tags=False)))),
        links=topic.links,
        text_html=topic.text_html,
        tags=topic.tags,
        task=Task("done" if state == "done" else "todo") if state else None,
        folded=topic.folded and bool(topic.children),
    )


PLAIN: Final[dict[str, Callable[..., Topic]]] = {"md": in_markdown, "opml": in_opml}


@pytest.mark.slow
@pytest.mark.parametrize("suffix", PLAIN)
@settings(max_examples=examples(100))
@given(outline=rich_outlines())
def test_text_formats_keep_all_text(suffix: str, outline: Outline) -> None:
    (found,) = again(outline, suffix).roots
    root = gathered(outline.sheets[0]).root
    pending: list[tuple[Topic, Topic]] = [(found, root)]
    while pending:
        made, topic = pending.pop()
        want = PLAIN[suffix](topic, central=topic is root)
        assert replace(made, children=[], links=()) == replace(want, links=())
        assert [child.text for child in made.children] == [
            PLAIN[suffix](child, central=False).text for child in topic.children
        ]
        pending.extend(zip(made.children, topic.children, strict=True))


# -- the tables of markers -------------------------------------------------------------------


def test_the_readers_agree_with_the_tables_of_the_writers() -> None:
    for name, icons in FREEMIND_ICONS.items():
        elements = "".join(f'<icon BUILTIN="{icon}"/>' for icon in icons)
        found = markers_of(parse_xml(f"<a>{elements}</a>", Limits()).iter("icon"))
        assert {icon.name for icon in found} == {name}
    general = {"flag": "flag-red", "star": "star-yellow", "person": "person-blue"}
    for name, identifier in XMIND_IDS.items():
        want = "task-done" if name == "progress-100" else general.get(name, name)
        assert xmind_marker(identifier).name == want


def test_every_marker_has_an_icon_or_an_emoji() -> None:
    assert is_known("penguin")
    for name in (*FREEMIND_ICONS, *XMIND_IDS, "money", "circle-red", "person-blue", "letter-x"):
        if name.startswith(("month", "weekday")):
            continue
        assert freemind_icon(marker(name, ""))
    assert freemind_icon(emoji("\U0001f468\u200d\U0001f4bb")) == "emoji-1F468-200D-1F4BB"
    assert marker_emoji("emoji-d800") == ""
    assert freemind_icon(marker("", "../../etc/passwd")) == ""
    assert freemind_icon(marker("", "my icon")) == "my icon"
