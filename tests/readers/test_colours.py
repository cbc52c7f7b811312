"""Every notation of colours that programs use, converted to one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mapshelf.readers.parsing.colours import colour, colour_of_fractions


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("#AbCdEf", "#abcdef"),
        ("abcdef", "#abcdef"),
        ("#f0a", "#ff00aa"),
        ("#11223344", "#112233"),
        ("#11223300", ""),
        ("rgb(1, 2,3)", "#010203"),
        ("rgb(300,0,0)", "#ff0000"),
        ("rgba(1,2,3,0.5)", "#010203"),
        ("rgba(1,2,3,0)", ""),
        ("rgba(1,2,3,0.0)", ""),
        (" Red ", "#ff0000"),
        ("transparent", ""),
        ("#12345", ""),
        ("#ggg", ""),
        ("", ""),
        (None, ""),
    ],
)
def test_colours(text: str | None, wanted: str) -> None:
    assert colour(text) == wanted


def test_opacity_may_come_first() -> None:
    assert colour("ff112233", alpha_first=True) == "#112233"
    assert colour("00112233", alpha_first=True) == ""


def test_fractions() -> None:
    assert colour_of_fractions(1, 0.5, 0) == "#ff8000"
    assert colour_of_fractions(2, -1, 0) == "#ff0000"
    assert colour_of_fractions(1, 1, 1, 0) == ""
    assert colour_of_fractions(float("nan"), 0, 0) in ("#000000", "")


@given(st.text() | st.from_regex(r"(#|rgba?\()[0-9a-fA-F, .)]*"))
def test_any_text_is_a_colour_or_none(text: str) -> None:
    found = colour(text)
    assert found == "" or (len(found) == 7 and int(found[1:], 16) >= 0)
