"""Outlines to write: any that the catalogue could contain, and especially hostile ones."""

from typing import Final

from hypothesis import strategies as st

from mapshelf.model import Outline, Topic, sheets_of
from mapshelf.readers.parsing.text_cleaning import clean, html_to_text, one_line, safe_html

SIGNS: Final = (
    *"&<>\"'`\\*_#%[](){}~$|^=+-!:;@/.?,\t\n\r\x00\x0b\x1b\x7f\x85\xa0\xad\u2028\u202e\ufeff",
    *"\ud800\udfff\ufffe\ufffd\U0001f600",
    *("&amp;", "&#10;", "&nbsp;", "&lt", "#quot;", "#35;", "]]>", "<!--", "-->", "<![CDATA[", "<?"),
    *("<html>", "<html><body>", "</text>", "</node>", "<b>", "<br>", "<br/>", "<script>"),
    *("1. ", "12) ", "- ", "* ", "# ", " #", "> ", "---", "===", "```", "~~~", "[x] ", "[ ] "),
    *("](", "![", "](http://x)", "<http://x>", "||", "**a**", "==a==", "++a++", "$a$", "\\n", "  "),
    *("%%", "%%{init", ":::", "::icon(", '"]', "((", "))", "style: #", "classDef x:#", "mindmap"),
    *("null", "---\n", "\n\n", " \n ", "\\\\", "é", "Ünï", "日本", "عربى"),
)
"""Characters that have a meaning in some format, or that it cannot contain."""

TEXTS: Final = st.lists(
    st.sampled_from(SIGNS) | st.text(st.characters(), max_size=3) | st.sampled_from(["a", "word "]),
    max_size=6,
).map("".join)

_LINK: Final = st.just("https://example.org/") | (
    st.lists(st.sampled_from([*SIGNS, "http://", "a.org/", "?q=1&r=2"]), min_size=1, max_size=5)
    .map("".join)
    .filter(lambda link: one_line(clean(link)))
)
LINKS: Final = st.lists(_LINK, max_size=5, unique_by=lambda link: one_line(clean(link))).map(tuple)

_PARTS: Final = (
    "<p>",
    "</p>",
    "<b>",
    "</b>",
    "<ul><li>",
    "</ul>",
    "<br>",
    "&nbsp;",
    "&lt;html&gt;",
)
RICH: Final = st.lists(
    st.sampled_from(
        [*_PARTS, '<a href="http://x/?a=1&amp;b">', "</a>", "<pre>", "</pre>", "a", " "]
    )
    | st.text(max_size=2),
    min_size=1,
    max_size=8,
).map(lambda parts: safe_html("".join(parts)))
"""Notes as readers keep them."""


@st.composite
def topics(draw: st.DrawFn) -> Topic:
    """Draw a topic without children."""
    note_html = draw(st.just("") | RICH)
    return Topic(
        text=draw(TEXTS),
        id=draw(st.just("") | TEXTS),
        note=html_to_text(note_html) if note_html else draw(st.just("") | TEXTS),
        note_html=note_html,
        links=draw(st.just(()) | LINKS),
    )


@st.composite
def outlines(draw: st.DrawFn) -> Outline:
    """Draw an outline: the parent of each topic is one of the topics before it, or it is a root."""
    first, *others = draw(st.lists(topics(), min_size=1, max_size=8))
    roots, placed = [first], [first]
    for topic in others:
        place = draw(st.integers(-1, len(placed) - 1))
        (roots if place < 0 else placed[place].children).append(topic)
        placed.append(topic)
    moments = st.none() | st.integers(10**12, 2 * 10**12)
    return Outline(
        sheets_of(tuple(roots)),
        software=draw(TEXTS),
        software_version=draw(TEXTS),
        template=draw(st.booleans()),
        author=draw(TEXTS),
        copyright=draw(TEXTS),
        created=draw(moments),
        modified=draw(moments),
        language=draw(st.sampled_from(["", "en", "zh"])),
    )


def chain(depth: int) -> Outline:
    """Return a map with a single branch."""
    root = topic = Topic("level 1")
    for level in range(2, depth + 1):
        topic.children.append(Topic(f"level {level}"))
        topic = topic.children[0]
    return Outline(sheets_of((root,)))


def broad(count: int, depth: int) -> Outline:
    """Return a map with ``count`` topics, in branches of ``depth`` levels."""
    root = topic = Topic("root")
    level = 1
    for number in range(1, count):
        if level == depth:
            topic, level = root, 1
        topic.children.append(Topic(f"topic {number}", id=f"t{number}", note="a note"))
        topic = topic.children[-1]
        level += 1
    return Outline(sheets_of((root,)))
