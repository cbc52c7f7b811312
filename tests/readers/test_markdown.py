"""Markmap: which parts of a text are topics or notes, and which texts are maps."""

import time

import pytest

from mapshelf.errors import BrokenFile, NotAMap
from mapshelf.model import Outline, Task, Topic
from mapshelf.readers import Limits, read

LIMITS = Limits()
FRONT = "---\nmarkmap:\n  maxWidth: 300\n---\n"


def outline_of(body: str, front: str = FRONT) -> Outline:
    return read((front + body).encode(), LIMITS)


def texts(body: str, front: str = FRONT) -> list[tuple[int, str]]:
    return [(depth, topic.text) for depth, topic in outline_of(body, front).topics()]


def test_headings_and_lists() -> None:
    body = (
        "# R\n\n## A #\n- a1\n  - a11\n\n    - a111\n- a2\n   1. one\n   2) two\n* other\n"
        "#### deep\n+ x\n## B\n"
    )
    assert texts(body) == [
        (0, "R"),
        (1, "A"),
        (2, "a1"),
        (3, "a11"),
        (4, "a111"),
        (2, "a2"),
        (3, "one"),
        (3, "two"),
        (2, "other"),
        (2, "deep"),
        (3, "x"),
        (1, "B"),
    ]


def test_emphasis_is_kept_beside_the_words() -> None:
    root = outline_of("# a **b** `<c>` & *d* ~~e~~\\*\n- plain & simple\n").roots[0]
    assert root.text == "a b <c> & d e*"
    assert root.text_html == "a <b>b</b> <code>&lt;c&gt;</code> &amp; <i>d</i> <del>e</del>*"
    assert (root.children[0].text, root.children[0].text_html) == ("plain & simple", "")


def test_boxes_folds_and_formulas() -> None:
    root = outline_of(
        "# r\n- [x] a <!-- markmap: fold -->\n  - $$x^2$$\n- [ ] b <!-- other -->\n\n"
        "  words <!-- markmap: fold --> go on\n- costs $5 and $6\n"
    ).roots[0]
    done, todo, money = root.children
    assert (done.text, done.folded, done.task) == ("☑ a", True, Task("done"))
    assert (done.children[0].text, done.children[0].formula) == ("$$x^2$$", "x^2")
    assert (todo.text, todo.folded, todo.task) == ("☐ b", False, Task("todo"))
    assert todo.note == "words  go on"
    assert money.formula == ""


@pytest.mark.parametrize(
    ("label", "formula", "text"),
    [
        (
            "Katex: $x = {a \\over 2}$",
            "\\text{Katex: }x = {a \\over 2}",
            "Katex: $x = {a \\over 2}$",
        ),
        ("$x_1$ and $$y$$.", "x_1\\text{ and }y\\text{.}", "$x_1$ and $$y$$."),
        ("**So** 50% of $x^2$", "x^2", "So 50% of $x^2$"),
        ("面积 $r^2$", "r^2", "面积 $r^2$"),
        ("word " * 20 + "$x^2$", "x^2", "word " * 20 + "$x^2$"),
        ("from $5 to $6, or $a b$", "", "from $5 to $6, or $a b$"),
        ("$$ $$", "", "$$ $$"),
    ],
)
def test_formulas_in_text(label: str, formula: str, text: str) -> None:
    topic = outline_of(f"# r\n- {label}\n").roots[0].children[0]
    assert (topic.formula, topic.text) == (formula, text)


@pytest.mark.slow
@pytest.mark.parametrize("piece", ["$=", "$" + "=" * 900 + "$5", "$$x", "$\\0=$ ", "\\$", "$ ="])
def test_dollar_signs_are_not_quadratic(piece: str) -> None:
    text = "# r\n- " + piece * (200_000 // len(piece))
    start = time.process_time()
    outline_of(text)
    assert time.process_time() - start < 1


def test_items_indented_a_little_are_siblings() -> None:
    assert texts("# r\n- a\n - b\n1. c\n  - d\n   - e\n") == [
        (0, "r"),
        (1, "a"),
        (1, "b"),
        (1, "c"),
        (1, "d"),
        (1, "e"),
    ]


def test_underlined_headings_rules_and_empty_ones() -> None:
    assert texts("Title\n=====\nOf two\nlines\n---\n***\n- - -\n##\ntext\n") == [
        (0, "Title"),
        (1, "Of two lines"),
        (1, ""),
    ]


@pytest.mark.parametrize(
    ("front", "body", "roots"),
    [
        (FRONT, "# one\n# two\n", ["one", "two"]),
        (FRONT, "- one\n- two\n", ["one", "two"]),
        ("---\nmarkmap:\ntitle: 'T'\n---\n", "## one\n## two\n", ["T"]),
        ("---\ntitle: T\nmarkmap: {}\n---\n", "# one\n", ["one"]),
    ],
)
def test_the_central_topic_of_a_text(front: str, body: str, roots: list[str]) -> None:
    assert [root.text for root in outline_of(body, front).roots] == roots


def test_everything_else_is_a_note() -> None:
    body = (
        "before *all*\n\n# R\npara [link](https://a.example)\nline two\n\n> quoted\n\n"
        "| a | b |\n|-|-|\n\n```js\n# not a **heading**\n- nor an item\n```\n"
        "- item\n  goes on\n\n  note of the item\n\n      deeper note\n\nnote of R\n"
        "- last\n~~~~\n```\n~~~\nopen to the end\n"
    )
    (root,) = outline_of(body).roots
    assert root.note == (
        "before all\npara link\nline two\nquoted\n| a | b |\n|-|-|\n"
        "# not a **heading**\n- nor an item\nnote of R"
    )
    assert root.links == ("https://a.example",)
    assert root.children == [
        Topic("item goes on", note="note of the item\ndeeper note"),
        Topic("last", note="```\n~~~\nopen to the end"),
    ]


@pytest.mark.parametrize(
    ("words", "text", "links"),
    [
        ("**a** *b* __c__ _d_ ***e*** ~~f~~ ==g==", "a b c d e f g", ()),
        (
            "snake_case_name 2*3*4 a * b * c __init__.py",
            "snake_case_name 2*3*4 a * b * c init.py",
            (),
        ),
        (r"\*a\* \# \\ \q", r"*a* # \ \q", ()),
        ("`**a** <b>` and ``c ` d``", "**a** <b> and ``c ` d``", ()),
        ("[a](https://a.example 'title') [b](<b.md>)", "a b", ("https://a.example", "b.md")),
        ("[![icon](i.png) a](x.html)", "icon a", ("x.html",)),
        ("<https://a.example/?b&c>", "https://a.example/?b&c", ("https://a.example/?b&c",)),
        (
            "a<br/>b &amp; &lt;c&gt; <span class='x'>d</span> 1 < 2 > 0",
            "a\nb & <c> d 1 < 2 > 0",
            (),
        ),
        ("a <!-- markmap: fold --> b", "a  b", ()),
        ("[x] done", "☑ done", ()),
        ("[ ] open", "☐ open", ()),
        (
            "$x_1 = {-b \\pm \\sqrt{b^2-4ac} \\over 2a}$",
            "$x_1 = {-b \\pm \\sqrt{b^2-4ac} \\over 2a}$",
            (),
        ),
    ],
)
def test_marks_inside_a_line(words: str, text: str, links: tuple[str, ...]) -> None:
    root = outline_of(f"- {words}\n").roots[0]
    assert (root.text, root.links) == (text, links)


def test_comments_over_several_lines_hide_topics() -> None:
    assert texts("# r\n<!--\n## no\n-->\n## a <!-- x --> b<!--\n-->\n## c\n") == [
        (0, "r"),
        (1, "a  b"),
        (1, "c"),
    ]


def test_windows_lines_and_byte_order_mark() -> None:
    data = b"\xef\xbb\xbf" + (FRONT + "# r\n- a\n").replace("\n", "\r\n").encode()
    assert [topic.text for _, topic in read(data, LIMITS).topics()] == ["r", "a"]


TEXT = b"# A readme\n\n- like any other\n"


def test_only_marked_texts_are_maps_unless_named_so() -> None:
    with pytest.raises(NotAMap):
        read(TEXT, LIMITS)
    with pytest.raises(NotAMap):
        read(TEXT, LIMITS, name="notes.txt")
    with pytest.raises(NotAMap):
        read(b"---\ntitle: markmap\n---\n# a\n", LIMITS)
    assert read(TEXT, LIMITS, name="README.md").software == "Markdown"
    assert read(TEXT, LIMITS, name="a.mm.MD").roots[0].text == "A readme"
    assert outline_of("# r").software == "Markmap"


@pytest.mark.parametrize("data", [b"", b"prose only\n", b"\x89PNG\r\n\x1a\n\x00\x00\n# x\n"])
def test_markdown_without_topics_is_refused(data: bytes) -> None:
    with pytest.raises(NotAMap):
        read(data, LIMITS, name="a.md")


def test_marked_text_without_topics_is_broken() -> None:
    with pytest.raises(BrokenFile, match="no topics"):
        outline_of("prose only\n")
