"""Text cleaning, HTML to text, and the summary the catalogue shows."""

import re
import time

import pytest

from mapshelf.model import Outline, Topic, sheets_of
from mapshelf.readers import summary
from mapshelf.readers.parsing.dates import milliseconds
from mapshelf.readers.parsing.notes import Note
from mapshelf.readers.parsing.text_cleaning import clean, cut, html_to_text, safe_html


@pytest.mark.parametrize(
    ("dirty", "expected"),
    [
        ("a\x00b\x07c\x1bd\x7fe\x9ff", "abcdef"),
        ("tab\tand\nline", "tab\tand\nline"),
        ("a\r\nb\rc\u2028d\x85e", "a\nb\nc\nd\ne"),
        ("\ud83d!\udc00", "!"),
        ("gpj\u202e.exe\u2066x\u2069\u200e\u200f", "gpj.exex"),
        ("  \xa0trim \n", "trim"),
        ("a\u200db\ufe0f", "a\u200db\ufe0f"),  # joiners form emoji and must stay
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


@pytest.mark.slow
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
    assert summary.title(Outline(sheets_of((Topic("a\n  b"),))), "/x/file.mm") == "a b"
    assert summary.title(Outline(sheets_of((Topic(""),))), "/x/my file.mm") == "my file"
    assert summary.title(Outline(sheets_of((Topic(""),))), "/x/\udcff.mm") == "Untitled"
    assert summary.title(Outline(sheets_of((Topic("\u200b\u3164"),))), "/x/plan.mm") == "plan"
    assert len(summary.title(Outline(sheets_of((Topic("x" * 900),))), "f")) == summary.MAX_TITLE


def test_description_is_the_note_or_the_main_topics() -> None:
    children = [Topic("one"), Topic(""), Topic("two\nlines")]
    assert (
        summary.description(Outline(sheets_of((Topic("r", note="n", children=children),)))) == "n"
    )
    assert (
        summary.description(Outline(sheets_of((Topic("r", children=children),))))
        == "one, two lines"
    )
    assert summary.description(Outline(sheets_of((Topic("r"),)))) == ""


def test_description_lists_whole_topics() -> None:
    children = [Topic(f"topic number {number}") for number in range(100)]
    text = summary.description(Outline(sheets_of((Topic("r", children=children),))))
    *listed, last = text.split(", ")
    assert len(text) <= summary.MAX_LISTED + 3
    assert listed == [child.text for child in children[: len(listed)]]
    assert (len(listed) > 20, last) == (True, "…")


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>a <b>b</b></p>", "<p>a <b>b</b></p>"),
        ("<div>a</div><div>b</div>c", "a<br>b<br>c"),
        ('<a href="https://a.example" onclick="x()">a</a>', "https://a.example"),
        ('<a href="javascript:x()">a</a>', ">a</a>"),
        ("<b>never <i>closed", "<b>never <i>closed</i></b>"),
        ("<b><i>crossed</b></i>", "<b><i>crossed</i></b>"),
        ("<script>x</script><style>y</style><img src=x onerror=y>z", "z"),
        ("<html><head><title>no</title></head><body>yes", "yes"),
        ("<p>a</p>\n<p>b</p>", "<p>a</p>\n<p>b</p>"),
        ("<b>a</b> <i>b</i>", "<b>a</b> <i>b</i>"),
        ("a &lt;b&gt; &amp;", "a &lt;b&gt; &amp;"),
    ],
)
def test_safe_html(html: str, expected: str) -> None:
    cleaned = safe_html(html)
    assert expected in cleaned
    assert not re.search(r"script|onclick|onerror|style|<img|no<", cleaned)


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<html>\n <head>\n </head>\n <body>\n  a\n </body>\n</html>\n", "a"),
        ("<html>\n<body><div>a</div>\n<div>b</div>\n</body>\n</html>", "a<br>b"),
        ("<html> <body> <p>a</p> </body> </html>", "<p>a</p>"),
        ("<p>a</p>\n<div>b</div>", "<p>a</p>b"),
        ("a<div> </div>b", "a<br>b"),
    ],
)
def test_white_space_around_blocks_adds_no_lines(html: str, expected: str) -> None:
    assert safe_html(html) == expected


@pytest.mark.slow
@pytest.mark.parametrize("piece", ["<div>", "<ul><li>", "<p>", "<b>", "<table><tr><td>", "<!--"])
def test_deep_html_is_not_quadratic(piece: str) -> None:
    start = time.process_time()
    safe_html(piece * (250_000 // len(piece)) + "end")
    assert time.process_time() - start < 1


def test_deep_html_keeps_its_words() -> None:
    assert html_to_text(safe_html("<ul><li>" * 100 + "deep")) == "deep"


def test_pictures_inside_html_add_no_text() -> None:
    html = f'<p>before</p><img src="data:image/png;base64,{"iVBO" * 200_000}"><p>after</p>'
    assert html_to_text(html) == "before\nafter"
    assert safe_html(html) == "<p>before</p><p>after</p>"


def test_html_is_not_cut_within_a_tag() -> None:
    assert html_to_text("x" * 262_100 + f'<a href="{"y" * 100}">z') == "x" * 262_100


def test_html_that_is_too_long_is_left_out() -> None:
    assert safe_html("x" * 300_000) == ""


def test_note_keeps_plain_and_html_in_step() -> None:
    note = Note()
    note.add_text("plain <1>\nnext")
    assert (note.plain, note.html) == ("plain <1>\nnext", "")
    note.add_html("<p>rich <b>text</b></p>")
    assert note.plain == "plain <1>\nnext\nrich text"
    assert html_to_text(safe_html(note.html)) == note.plain
    assert "<b>text</b>" in safe_html(note.html)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1704067200000, "2024-01-01T00:00:00Z"),
        ("1704067200000", "2024-01-01T00:00:00Z"),
        ("1704067200", "2024-01-01T00:00:00Z"),
        ("2024-01-01", "2024-01-01T00:00:00Z"),
        ("2024/01/01 12:34:56", "2024-01-01T12:34:56Z"),
        ("2024-01-01T12:34:56", "2024-01-01T12:34:56Z"),
        ("2024-01-01T12:34:56.7890000+02:00", "2024-01-01T10:34:56Z"),
        ("Mon, 04 Nov 2013 20:50:25 GMT", "2013-11-04T20:50:25Z"),
        ("Tue Oct 23 2012 19:59:34 GMT+0200 (IST)", "2012-10-23T17:59:34Z"),
    ],
)
def test_moment(value: object, expected: str) -> None:
    found = milliseconds(value)
    assert found is not None
    assert time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(found / 1000)) == expected


@pytest.mark.parametrize(
    "value",
    [
        *("", "02/09/2017 17:40:18", "never", "2024-13-01", "0001-01-01T00:00:00+14:00", "0"),
        *("9" * 13, "x" * 1_000_000, "١٧٠٤٠٦٧٢٠٠٠٠٠", "Mon, 99 Nov"),
        *(0, 10**40, None, 1.5, float("inf"), True),
    ],
)
def test_no_moment(value: object) -> None:
    assert milliseconds(value) is None


def test_other_blocks_become_line_breaks() -> None:
    assert safe_html("<html><body><div>a</div><div>b</div></body></html>") == "a<br>b"
