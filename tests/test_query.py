"""The parameters of ``GET /maps``: defaults, values and error messages."""

from contextlib import suppress
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mapshelf.errors import InvalidParameter
from mapshelf.query import (
    DEFAULT_LIMIT,
    FILTERS,
    MAXIMUM_OFFSET,
    MAXIMUM_QUERY_LENGTH,
    ORDERS,
    PARAMETERS,
    UNKNOWN_ID,
    MapQuery,
    folder_key,
    owner_key,
    parse_query,
    tag_key,
)

LIMIT = "The limit value must be between 0-50."
OFFSET = "The offset value must be a whole number between 0 and 9007199254740992."
ORDER = "The order_by value must be one of alpha, downloads, views, date, rating, edited."
CATEGORY = "The category value must be a whole number."
SOFTWARE = "The software value must be a whole number."
TEMPLATES = "The only_templates value must be true or false."
LONG = "The query value must be at most 500 characters long."


@pytest.mark.parametrize(
    ("string", "changes"),
    [
        ("", {}),
        ("limit=0", {"limit": 0}),
        ("limit=50", {"limit": 50}),
        ("limit=0007", {"limit": 7}),
        ("offset=0", {}),
        (f"offset={MAXIMUM_OFFSET}", {"offset": MAXIMUM_OFFSET}),
        ("offset=" + "0" * 5000 + "1", {"offset": 1}),
        ("category=3", {"filters": (("category", 3),)}),
        ("category=0", {"filters": (("category", 0),)}),
        ("software=" + "9" * 5000, {"filters": (("software", UNKNOWN_ID),)}),
        (f"category={2**63 - 1}", {"filters": (("category", 2**63 - 1),)}),
        (f"category={2**63}", {"filters": (("category", UNKNOWN_ID),)}),
        (f"category={2**64}", {"filters": (("category", UNKNOWN_ID),)}),
        ("owner=Ann", {"filters": (("owner", owner_key("ann")),)}),
        ("only_templates=true", {"filters": (("only_templates", 1),)}),
        ("only_templates=TRUE", {"filters": (("only_templates", 1),)}),
        ("only_templates=1", {"filters": (("only_templates", 1),)}),
        ("only_templates=False", {}),
        ("only_templates=0", {}),
        ("query=a+b", {"text": "a b", "order": None}),
        ("query=%20%20", {}),
        ("query=%E6%97%A5", {"text": "日", "order": None}),
        ("query=x&order_by=views", {"text": "x", "order": "views"}),
        ("query=" + "x" * 500, {"text": "x" * 500, "order": None}),
        ("unknown=1&unknown=2&limit=3", {"limit": 3}),
        ("LIMIT=99", {}),
        ("&&=&=x&x", {}),
        ("limit=&offset=&order_by=&category=&software=&owner=&only_templates=&query=", {}),
        ("limit", {}),
        ("unknown=%00", {}),
    ],
)
def test_valid(string: str, changes: dict[str, Any]) -> None:
    parsed = parse_query(string.encode())
    given_names = [name for name, _ in parsed.given]
    assert "limit" not in given_names
    assert parsed == MapQuery(**{**changes, "given": parsed.given})


@pytest.mark.parametrize(
    ("string", "message"),
    [
        *((f"limit={value}", LIMIT) for value in ("51", "-1", "abc", "1.0", "%2B1", "%20", "1%20")),
        *((f"limit={value}", LIMIT) for value in ("9" * 5000, "%D9%A1", "%C2%B2", "0x1", "1_0")),
        *((f"offset={value}", OFFSET) for value in ("-1", "x", "1e3", "9" * 5000, "%EF%BC%91")),
        (f"offset={MAXIMUM_OFFSET + 1}", OFFSET),
        *((f"order_by={value}", ORDER) for value in ("ALPHA", "size", "date%20", "relevance")),
        *((f"category={value}", CATEGORY) for value in ("-1", "x", "1.5", "%E2%85%A7")),
        *((f"software={value}", SOFTWARE) for value in ("-1", "FreeMind", "%20")),
        *((f"only_templates={value}", TEMPLATES) for value in ("yes", "2", "tr", "%20true")),
        ("query=" + "x" * (MAXIMUM_QUERY_LENGTH + 1), LONG),
        ("query=" + "+" * (MAXIMUM_QUERY_LENGTH + 1), LONG),
        ("query=%FF", "The parameters must be UTF-8 text."),
        ("%FF=1", "The parameters must be UTF-8 text."),
        ("query=%ED%A0%80", "The parameters must be UTF-8 text."),
    ],
)
def test_invalid(string: str, message: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        parse_query(string.encode())
    assert str(caught.value) == message


def test_raw_bytes_that_are_not_utf_8() -> None:
    with pytest.raises(InvalidParameter, match="UTF-8"):
        parse_query(b"query=\xff")


@pytest.mark.parametrize("name", sorted(PARAMETERS))
def test_every_parameter_once_and_without_nul(name: str) -> None:
    for string in (f"{name}=1&{name}=1", f"{name}=&{name}=", f"{name}=&{name}=1"):
        with pytest.raises(InvalidParameter, match=f"The {name} parameter is given twice."):
            parse_query(string.encode())
    with pytest.raises(InvalidParameter, match=f"The {name} value must not contain a NUL"):
        parse_query(f"{name}=a%00".encode())


def test_defaults() -> None:
    query = parse_query(b"")
    assert (query.text, query.order, query.filters) == ("", "date", ())
    assert (query.limit, query.offset, query.given) == (DEFAULT_LIMIT, 0, ())
    assert DEFAULT_LIMIT == 20
    assert set(PARAMETERS) == {row.name for row in FILTERS} | {
        "query",
        "title_only",
        "limit",
        "offset",
        "order_by",
    }


def test_parameters_are_kept_unchanged_for_links() -> None:
    query = parse_query(b"owner=Ann%20B&limit=3&query=+x+&offset=4&only_templates=False&junk=1")
    assert query.given == (("owner", "Ann B"), ("query", " x "), ("only_templates", "False"))


@given(
    limit=st.integers(0, 50),
    offset=st.integers(0, MAXIMUM_OFFSET),
    order=st.sampled_from(ORDERS),
    category=st.integers(0, 2**63 - 1),
    owner=st.text(min_size=1).filter(lambda name: "\0" not in name),
    text=st.text(max_size=500).filter(lambda text: "\0" not in text),
)
def test_any_valid_request(
    *, limit: int, offset: int, order: str, category: int, owner: str, text: str
) -> None:
    values = {"limit": limit, "offset": offset, "order_by": order, "category": category}
    string = urlencode({**values, "owner": owner, "query": text}).encode()
    parsed = parse_query(string)
    assert (parsed.limit, parsed.offset, parsed.order) == (limit, offset, order)
    assert parsed.text == text.strip()
    assert parsed.filters == (("category", category), ("owner", owner_key(owner)))


@given(st.binary())
def test_any_bytes_parse_or_are_an_invalid_parameter(string: bytes) -> None:
    try:
        parse_query(string)
    except InvalidParameter as error:
        assert "\n" not in str(error)  # noqa: PT017 -- both ways out are tested


@given(st.sampled_from(sorted(PARAMETERS)), st.text(max_size=30))
def test_any_value_parses_or_is_named(name: str, value: str) -> None:
    try:
        parse_query(f"{name}={quote(value)}".encode())
    except InvalidParameter as error:
        assert f"The {name} value" in str(error)  # noqa: PT017 -- as above


@given(st.text())
def test_owner_keys_do_not_know_case(name: str) -> None:
    assert owner_key(name) == owner_key(name.casefold()) == owner_key(f" {name} ")
    assert 0 <= owner_key(name) < 2**64


@pytest.mark.parametrize(
    ("text", "rest", "filters"),
    [
        ("tag:Tea", "", (("tag", tag_key("tea")),)),
        ('green TAG:"black tea" leaf', "green leaf", (("tag", tag_key("Black Tea")),)),
        ("\u2212tag:\u201cblack tea\u201d", "", (("-tag", tag_key("black tea")),)),
        ("-folder:A/B x", "x", (("-folder", folder_key("/A/B/")),)),
        ("folder:A tag:b folder:A", "", (("folder", folder_key("A")), ("tag", tag_key("b")))),
        ('tag:"open', "", (("tag", tag_key("open")),)),
        ('"a tag:b c"', '"a tag:b c"', ()),
        ('-"a tag:b" tag:c', '-"a tag:b"', (("tag", tag_key("c")),)),
        ("tag: b", "tag: b", ()),
        ("tag:", "tag:", ()),
        ('tag:"" x', 'tag:"" x', ()),
        ("folder:\u00abA B/C\u00bb -tag:\u300cx y\u300d z", "z", None),
        ('title:"a tag:b" c', 'title:"a tag:b" c', ()),
        ("untag:b --tag:b owner:b http://tag:b", "untag:b --tag:b owner:b http://tag:b", ()),
    ],
)
def test_filters_as_words(
    text: str, rest: str, filters: tuple[tuple[str, int], ...] | None
) -> None:
    if filters is None:
        filters = (("folder", folder_key("A B/C")), ("-tag", tag_key("x y")))
    query = parse_query(urlencode({"query": text}).encode())
    assert (query.text, query.filters) == (rest, filters)
    assert query.order == (None if rest else "date")
    assert query.given == (("query", text),)


@given(st.text(max_size=30) | st.lists(st.sampled_from(("tag:", "-", '"', " ", "x"))).map("".join))
def test_no_text_is_an_error(text: str) -> None:
    with suppress(InvalidParameter):  # a NUL, or half a character
        parse_query(urlencode({"query": text}, errors="replace").encode())
