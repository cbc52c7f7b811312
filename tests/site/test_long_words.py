"""Words of thousands of letters have places where browsers may break them."""

import re

from hypothesis import given
from hypothesis import strategies as st

from mapshelf.model import Outline, Topic, sheets_of
from mapshelf.site.long_words import LONG, PIECE, with_breaks
from mapshelf.site.outline import outline_html

TEXTS = st.lists(
    st.one_of(
        st.sampled_from(["<p>", "</p>", " ", "\n", "&amp;", '<a title="b">', "</a>", "&", ";"]),
        st.integers(1, 3 * LONG).map("x".__mul__),
        st.integers(1, LONG).map("&lt;".__mul__),
        st.text(alphabet="aé中 ", max_size=20),
    )
).map("".join)


@given(TEXTS)
def test_only_places_to_break_are_added(html: str) -> None:
    broken = with_breaks(html)
    assert broken.replace("<wbr>", "") == html
    for piece in re.split(r"<[^>]*>|\s", broken):
        letters = re.sub(r"&[#\w]{1,31};", "&", piece)
        assert len(letters) <= LONG


def test_ordinary_words_are_not_broken() -> None:
    html = f'<p>{"x" * (LONG - 1)} <a href="{"y" * 5000}">y</a></p>'
    assert with_breaks(html) == html
    assert with_breaks(f"<i>{'&amp;' * LONG}</i>").count("<wbr>") == LONG // PIECE - 1


def test_topics_and_notes_of_a_page_are_broken() -> None:
    topics = [Topic(text="x" * LONG), Topic(text="y", note="z" * LONG)]
    outline = Outline(sheets=sheets_of((Topic(text="Root", children=topics),)))
    assert outline_html(outline).count("<wbr>") == 2 * (LONG // PIECE - 1)


def test_clusters_of_letters_are_not_broken() -> None:
    for html in ("e\u0301" * LONG, "\u05d0\u05b8" * LONG):
        assert not re.search("<wbr>[\u0301\u05b8]", with_breaks(html))
    for html in ("\u6d77\u3002" * LONG, "\u0e17\u0e35\u0e48" * LONG, "\U0001f468\u200d" * LONG):
        assert with_breaks(html) == html


def test_addresses_with_signs_are_not_broken() -> None:
    address = f"https://example.com/?a>{'b' * 2 * LONG}"
    html = outline_html(Outline(sheets=sheets_of((Topic(text="r", links=(address,)),))))
    assert f'href="{address.replace(">", "&gt;")}"' in html
