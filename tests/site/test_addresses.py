"""The faster ways to build URLs give the same URLs as the general one."""

from typing import Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mapshelf.site.addresses import Addresses

ADDRESSES: Final = Addresses("https://maps.example.org/shelf")

VALUES: Final = st.text(st.characters(exclude_characters="\0", codec="utf-8"), min_size=1)


@pytest.mark.parametrize("name", ["owner", "folder", "tag", "software"])
@given(value=VALUES, given_query=st.booleans())
@example(value="a/b", given_query=True)
@example(value="/", given_query=False)
@example(value="..", given_query=True)
@example(value="100% <b>", given_query=False)
def test_urls_of_lists_are_equal(name: str, value: str, given_query: bool) -> None:
    given = {"query": "solar & wind"} if given_query else {}
    whole = ADDRESSES.library({**given, name: value})
    assert ADDRESSES.narrowed(given, name)(value) == whole
    if not given_query:
        assert ADDRESSES.list_of(name, value) == whole
