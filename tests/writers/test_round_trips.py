"""Round trips: our reader returns the outline that was exported.

Not every format has a place for everything. ``CARRIED`` defines for each format how an outline
should look after the round trip. Everything else must come back unchanged, with any characters.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from html import escape
from typing import Final

import pytest
from hypothesis import example, given, settings

from mapshelf.formats.inline_html import is_inline_html
from mapshelf.model import Outline, Topic, sheets_of
from mapshelf.readers import Limits, read
from mapshelf.readers.parsing.notes import Note
from mapshelf.readers.parsing.text_cleaning import clean, html_to_text, is_html, one_line, safe_html
from mapshelf.writers import WRITERS
from tests.examples import examples
from tests.writers.outlines import broad, chain, outlines

Carry = Callable[[Topic], Topic]

WRITE: Final = {writer.suffix: writer.write for writer in WRITERS}


def changed(roots: tuple[Topic, ...], change: Carry) -> tuple[Topic, ...]:
    """Return copies of all topics, each changed by ``change``, which can ignore children."""
    done: list[Topic] = []
    pending = [(root, done) for root in reversed(roots)]
    while pending:
        topic, siblings = pending.pop()
        copy = replace(change(topic), children=[])
        siblings.append(copy)
        pending.extend((child, copy.children) for child in reversed(topic.children))
    return tuple(done)


def tidy(topic: Topic) -> Topic:
    """Return ``topic`` as readers return it and the catalogue keeps it."""
    links = filter(None, (one_line(clean(link)) for link in topic.links))
    return Topic(
        id=one_line(clean(topic.id)),
        text=clean(topic.text),
        note=clean(topic.note),
        note_html=safe_html(topic.note_html),
        links=tuple(dict.fromkeys(links)),
    )


def under_one_root(outline: Outline) -> Outline:
    if len(outline.roots) == 1:
        return outline
    names = ", ".join(filter(None, (one_line(clean(root.text)) for root in outline.roots)))
    names = names if len(names) <= 100 else names[:99].rstrip() + "…"
    return replace(outline, sheets=sheets_of((Topic(names, children=list(outline.roots)),)))


def in_freemind(topic: Topic) -> Topic:
    """The first link stays a link, others become attributes; lines of notes become paragraphs."""
    note = Note()
    if topic.note_html:
        note.add_html(topic.note_html)
    elif topic.note:
        note.add_html("".join(f"<p>{line_html(line)}</p>" for line in topic.note.split("\n")))
    text = topic.text
    if is_html(text):  # then it is written as HTML, which ignores extra spaces and empty lines
        text = "\n".join(filter(None, map(one_line, text.splitlines())))
    return replace(
        topic,
        text=text,
        note=clean(note.plain),
        note_html=safe_html(note.html),
        links=topic.links[:1],
        attributes=tuple(("link", link) for link in topic.links[1:]),
        shown_attributes=("link",) if topic.links[1:] else (),
    )


def line_html(line: str) -> str:
    line = line.expandtabs(4)
    words = line.lstrip(" ")
    return "\xa0" * (len(line) - len(words)) + escape(words, quote=False)


def in_xmind(topic: Topic) -> Topic:
    """The first link stays a link, others become lines of the note."""
    note = "\n".join(filter(None, (topic.note, *topic.links[1:])))
    html = topic.note_html if note else ""
    if html:
        html += "".join(f"<p>{escape(link, quote=False)}</p>" for link in topic.links[1:])
    return replace(topic, note=clean(note), note_html=safe_html(html), links=topic.links[:1])


def in_opml(topic: Topic) -> Topic:
    """Notes are plain text, three links are kept, and text that looks like HTML becomes HTML."""
    html = escape(topic.text, quote=False).replace("\n", "<br>")
    if not is_inline_html(topic.text):
        return replace(topic, note_html="", links=topic.links[:3])
    text = "\n".join(filter(None, (line.rstrip() for line in html_to_text(html).splitlines())))
    return replace(topic, text=text, note_html="", links=topic.links[:3], text_html=safe_html(html))


def in_markdown(topic: Topic) -> Topic:
    """Notes are plain text, ids are lost, and links have no spaces and angle brackets."""
    links = (
        link.replace(" ", "%20").replace("<", "%3C").replace(">", "%3E") for link in topic.links
    )
    return Topic(topic.text, note=topic.note, links=tuple(links))


def in_mermaid(topic: Topic) -> Topic:
    """Only the text is kept."""
    return Topic(topic.text)


def whole_seconds(when: int | None) -> int | None:
    return None if when is None else when // 1000 * 1000


def no_facts(outline: Outline) -> Outline:
    return Outline(sheets_of(outline.roots))


CARRIED: Final[dict[str, tuple[Carry, Callable[[Outline], Outline]]]] = {
    "mm": (
        in_freemind,
        lambda given: Outline(
            sheets_of(given.roots), created=given.created, modified=given.modified
        ),
    ),
    "opml": (
        in_opml,
        lambda given: Outline(
            sheets_of(given.roots),
            author=one_line(clean(given.author)),
            copyright=one_line(clean(given.copyright)),
            created=whole_seconds(given.created),
            modified=whole_seconds(given.modified),
        ),
    ),
    "xmind": (in_xmind, no_facts),
    "md": (in_markdown, no_facts),
    "mmd": (in_mermaid, no_facts),
}
"""How a topic and the map as a whole look after the round trip, by format."""

PROGRAM: Final = ("software", "software_version", "template")
"""Metadata about the original file, not about the export."""


def expected(suffix: str, outline: Outline) -> Outline:
    of_topic, of_map = CARRIED[suffix]
    tidied = replace(outline, sheets=sheets_of(changed(outline.roots, tidy)))
    if suffix not in ("xmind", "opml"):
        tidied = under_one_root(tidied)
    read_back = replace(tidied, sheets=sheets_of(changed(tidied.roots, of_topic)))
    # OPML has all sheets. The reader joins them, so the name of their common root is plain text.
    return of_map(under_one_root(read_back) if suffix == "opml" else read_back)


def told(outline: Outline) -> Iterator[object]:
    """Yield everything to compare, topic by topic, so that deep maps do not overflow the stack."""
    for fact in fields(Outline):
        if fact.name not in ("sheets", *PROGRAM):
            yield fact.name, getattr(outline, fact.name)
    for depth, topic in outline.topics():
        # XMind gives every main topic a side.
        yield depth, replace(topic, id=_MADE_UP.sub("", topic.id), children=[], side="")


_MADE_UP: Final = re.compile(r"\Atopic-\d+\Z")
"""The generated ids of topics without one in exports to XMind, which requires ids."""

HOSTILE: Final = Outline(
    sheets_of(
        (
            Topic("<HTML> is\n\n  a text", note="- a\n\n\tb\n# c\n", links=("a b", "c", "d", "e")),
            Topic(
                " [x] ", id="1\n2", children=[Topic("#"), Topic("1. a"), Topic("---"), Topic("")]
            ),
        )
    ),
    author="<me>",
)
TWO_SHEETS: Final = Outline(sheets_of((Topic(""), Topic("<br>"))))


@pytest.mark.slow
@pytest.mark.parametrize("suffix", CARRIED)
@settings(max_examples=examples(100))
@example(outline=HOSTILE)
@example(outline=TWO_SHEETS)
@given(outline=outlines())
def test_an_export_is_read_as_the_exported_outline(suffix: str, outline: Outline) -> None:
    export = WRITE[suffix](outline)
    assert list(told(read(export, Limits()))) == list(told(expected(suffix, outline)))
    assert WRITE[suffix](outline) == export


@pytest.mark.slow
@pytest.mark.parametrize("suffix", CARRIED)
@pytest.mark.parametrize("outline", [chain(256), broad(examples(5_000), 20)], ids=["deep", "broad"])
def test_deep_and_large_maps_come_back(suffix: str, outline: Outline) -> None:
    again = read(WRITE[suffix](outline), Limits())
    assert list(told(again)) == list(told(expected(suffix, outline)))


def test_every_format_with_a_reader_is_tested() -> None:
    without_reader = {"json", "txt"}
    assert set(WRITE) == set(CARRIED) | without_reader


def test_differences_after_a_round_trip_are_noticed() -> None:
    other = replace(
        HOSTILE, sheets=sheets_of(changed(HOSTILE.roots, lambda topic: replace(topic, text="x")))
    )
    for suffix in CARRIED:
        assert list(told(expected(suffix, other))) != list(told(expected(suffix, HOSTILE)))
