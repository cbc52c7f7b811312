"""Singular and plural in messages: 1 map, 2 maps."""

import pytest

from mapshelf.plurals import noun


@pytest.mark.parametrize(("count", "said"), [(0, "maps"), (1, "map"), (2, "maps"), (1000, "maps")])
def test_a_noun_follows_its_number(count: int, said: str) -> None:
    assert noun(count, "map") == said


def test_words_with_other_plurals_are_given_both() -> None:
    assert [noun(count, "copy is", "copies are") for count in (1, 2)] == ["copy is", "copies are"]
