"""Words of thousands of letters have places where browsers may break them."""

import re

from hypothesis import given
from hypothesis import strategies as st

from mapshelf.model import Outline, Topic, sheets_of
from mapshelf.site.long_words import LONG, PIECE, breakable
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
    broken = breakable(html)
    assert broken.replace("<wbr>", "") == html
    for piece in re.split(r"<[^>]*>|\s", broken):
        letters = re.sub(r"&[#\w]{1,31};", "&", piece)
        assert len(letters) <= max(LONG, PIECE)


def test_ordinary_words_are_not_broken() -> None:
    html = f'<p>{"x" * (LONG - 1)} <a href="{"y" * 5000}">y</a></p>'
    assert breakable(html) == html
    assert breakable(f"<i>{'&amp;' * LONG}</i>").count("<wbr>") == LONG // PIECE - 1


def test_topics_and_notes_of_a_page_are_broken() -> None:
    topics = [Topic(text="x" * LONG), Topic(text="y", note="z" * LONG)]
    outline = Outline(sheets=sheets_of((Topic(text="Root", children=topics),)))
    assert outline_html(outline).count("<wbr>") == 2 * (LONG // PIECE - 1)
