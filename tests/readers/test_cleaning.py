"""Text cleaning, HTML to text, and the summary the catalogue shows."""

import time

import pytest

from mapshelf.model import Outline, Topic
from mapshelf.readers import summary
from mapshelf.readers.cleaning import clean, cut, html_to_text


@pytest.mark.parametrize(
    ("dirty", "expected"),
    [
        ("a\x00b\x07c\x1bd\x7fe\x9ff", "abcdef"),
        ("tab\tand\nline", "tab\tand\nline"),
        ("a\r\nb\rc\u2028d\x85e", "a\nb\nc\nd\ne"),
        ("\ud83d!\udc00", "!"),
        ("gpj\u202e.exe\u2066x\u2069\u200e\u200f", "gpj.exex"),
        ("  \xa0trim \n", "trim"),
        ("a\u200db\ufe0f", "a\u200db\ufe0f"),  # joiners make emoji and must stay
        ("\ufffe\uffff", ""),
    ],
)
def test_clean(dirty: str, expected: str) -> None:
    assert clean(dirty) == expected


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>a</p><p>b</p>", "a\nb"),
        ("<ul><li>a<li>b</ul>c", "a\nb\nc"),
        ("<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>", "a b\nc"),
        ("a <i> b</i>\n\n c", "a b c"),
        ("<pre>a\n  b</pre>", "a\n  b"),
        ("<script>x</script><style>y</style>z", "z"),
        ("<html><head><meta><body>open head", "open head"),
        ('<img alt="a cat" src="c.png">', "a cat"),
        ("&nbsp;&lt;b&gt;&amp;&#x41;", " <b>&A"),
        ("<p>&nbsp;</p><p>x", "x"),
        ("a<![broken[b<p>c", "a"),
        ("<", "<"),
    ],
)
def test_html_to_text(html: str, expected: str) -> None:
    assert html_to_text(html).startswith(expected)


@pytest.mark.parametrize("piece", ["<!--", "<![", "<!x", "<?", "<a ", "<a", "</", "&", "<a b='"])
@pytest.mark.parametrize("end", ["", ">"])
def test_broken_html_is_not_quadratic(piece: str, end: str) -> None:
    start = time.process_time()
    html_to_text(piece * 100_000 + end)
    assert time.process_time() - start < 1


def test_cut_counts_bytes_and_keeps_characters_whole() -> None:
    assert cut("é" * 10, 20) == "é" * 10
    assert cut("é" * 11, 20) == "é" * 8 + "…"
    assert len(cut("😀" * 100, 64).encode()) <= 64


def test_title_is_one_line_and_falls_back_to_the_file_name() -> None:
    assert summary.title(Outline((Topic("a\n  b"),)), "/x/file.mm") == "a b"
    assert summary.title(Outline((Topic(""),)), "/x/my file.mm") == "my file"
    assert summary.title(Outline((Topic(""),)), "/x/\udcff.mm") == "Untitled"
    assert len(summary.title(Outline((Topic("x" * 900),)), "f")) == summary.MAX_TITLE


def test_description_is_the_note_or_the_main_topics() -> None:
    children = [Topic("one"), Topic(""), Topic("two\nlines")]
    assert summary.description(Outline((Topic("r", note="n", children=children),))) == "n"
    assert summary.description(Outline((Topic("r", children=children),))) == "one, two lines"
    assert summary.description(Outline((Topic("r"),))) == ""


def test_description_lists_whole_topics() -> None:
    children = [Topic(f"topic number {number}") for number in range(100)]
    text = summary.description(Outline((Topic("r", children=children),)))
    *listed, last = text.split(", ")
    assert len(text) <= summary.MAX_LISTED + 3
    assert listed == [child.text for child in children[: len(listed)]]
    assert (len(listed) > 20, last) == (True, "…")
