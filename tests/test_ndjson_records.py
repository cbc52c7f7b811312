"""Records are read back as they were written, and errors in them name the wrong key."""

from datetime import UTC, datetime
from typing import Any

import orjson
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from mapshelf.errors import InvalidRecord
from mapshelf.formats.ndjson_records import (
    FIELDS,
    LARGEST_FILE_ID,
    LONGEST_LINE,
    LONGEST_TEXT,
    format_date,
    format_record,
    format_size,
    parse_record,
    size_of,
)
from mapshelf.model import (
    LARGEST_COUNT,
    LARGEST_ID,
    MAP_KEYS,
    MOST_TAGS,
    TAG_LENGTH,
    Map,
    MapDraft,
    Visibility,
    format_tags,
    parse_tags,
)
from mapshelf.tokens import ALPHABET
from tests.store.drafts import COUNTS, DATES, NAMES, TEXTS, URLS

IDS = st.integers(0, LARGEST_ID)
PROGRAMS = st.one_of(st.just((None, "")), st.tuples(st.integers(1, 99), NAMES))
MAPS = st.builds(
    lambda program, **rest: Map(software_id=program[0], software=program[1], **rest),
    PROGRAMS,
    file_id=st.integers(1, LARGEST_FILE_ID),
    id=st.text(st.sampled_from(ALPHABET), min_size=1, max_size=32),
    title=TEXTS,
    description=TEXTS,
    thumbs_up=COUNTS,
    thumbs_down=COUNTS,
    views=COUNTS,
    downloads=COUNTS,
    thumbnail=st.none() | URLS,
    url=st.none() | URLS,
    category_id=IDS,
    category=NAMES,
    date_added=DATES,
    owner=NAMES,
    size=st.none() | st.integers(0, 10**13),
    copyright=TEXTS,
    licence_type_id=st.none() | IDS,
    template=st.booleans(),
    tags=st.lists(NAMES.filter(lambda name: "," not in name), max_size=MOST_TAGS).map(
        lambda names: parse_tags(",".join(names))
    ),
    visibility=st.sampled_from([one for one in Visibility if one is not Visibility.REMOVED]),
)
EXTRA_KEYS = ("Template", "Tags", "Visibility")
"""What records have besides the keys of a Map."""


@given(MAPS)
def test_a_map_comes_back_from_its_record(found: Map) -> None:
    line = format_record(found)
    assert b"\n" not in line
    record = orjson.loads(line)
    assert all(isinstance(value, str) for value in record.values())
    keys = [key for key in (*MAP_KEYS, *EXTRA_KEYS) if key in record]
    assert list(record) == keys
    assert {*MAP_KEYS, "Template"} - set(record) <= {"Thumbnail", "URL"}
    assert ("Tags" in record) == bool(found.tags)
    assert ("Visibility" in record) == (found.visibility is not Visibility.PUBLISHED)
    draft, unknown = parse_record(line)
    assert unknown == []
    for field in FIELDS:
        if field.key in record or field.key not in EXTRA_KEYS:
            assert getattr(draft, field.name) == getattr(found, field.name), field.key


def test_every_key_of_a_map_is_a_field() -> None:
    assert tuple(field.key for field in FIELDS) == (*MAP_KEYS, *EXTRA_KEYS)


def test_an_empty_record_sets_nothing() -> None:
    assert parse_record(b"{}") == (MapDraft(), [])
    blank = orjson.dumps({field.key: "" for field in FIELDS if not field.blank})
    assert parse_record(blank) == (MapDraft(), [])
    assert parse_record(orjson.dumps({"Title": "", "Software": "", "Owner": None})) == (
        MapDraft(title="", software=""),
        [],
    )


def test_unknown_keys_are_reported() -> None:
    line = b'{"Title": "t", "Rating": "5", "title": "x", "Labels": []}'
    assert parse_record(line) == (MapDraft(title="t"), ["Rating", "title", "Labels"])


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("", ()),
        (" , ,", ()),
        ("plan", ("plan",)),
        ("Year  2024 ,plan,YEAR 2024,,予定", ("Year 2024", "plan", "予定")),
        ("x" * TAG_LENGTH, ("x" * TAG_LENGTH,)),
    ],
)
def test_tags_have_commas_between_them(text: str, tags: tuple[str, ...]) -> None:
    assert parse_tags(text) == parse_tags(format_tags(tags)) == tags


@pytest.mark.parametrize("white", [b"", b"\n", b"\r\n", b"  \t"])
def test_blanks_around_a_record(white: bytes) -> None:
    assert parse_record(white + b'{"ID":"a"}' + white) == (MapDraft(id="a"), [])


LARGEST = "999999999999.99"
NUMBERS = ["-1", "+1", "1.0", "1e3", " 1", "1 ", "x", "٣", "²", "9" * 20, "9" * 5000, "0x1", "1_0"]
IMPOSSIBLE: dict[str, list[str]] = {
    "File_ID": [*NUMBERS, "0", str(LARGEST_FILE_ID + 1)],
    "ID": ["a b", "é", "a-b", "x" * 33, "a\n", "../x", " a"],
    "ThumbsUp": [*NUMBERS, str(LARGEST_COUNT + 1)],
    "ThumbsDown": NUMBERS,
    "Views": NUMBERS,
    "Downloads": NUMBERS,
    "Thumbnail": [
        "x",
        "/t.png",
        "ftp://a/b",
        "javascript:alert(1)",
        "http://",
        "http://[",
        "http://a/\n",
    ],
    "URL": ["x", "//a/b", "data:text/html,x", "https:///path", "https://a\x7f/"],
    "CategoryID": [*NUMBERS, str(LARGEST_ID + 1)],
    "DateAdded": [
        "2024-01-31",
        "2024-01-31T00:00:00",
        "2024-01-31 00:00:00Z",
        "2024-01-31 00:00:00.1234567",
        "2024-02-30 00:00:00",
        "2023-02-29 00:00:00.000",
        "0000-01-01 00:00:00",
        "2024-01-31 24:00:01",
        "2024-01-31 00:60:00",
        "2024-01-31 00:00:60",
        "٢٠٢٤-01-31 00:00:00",
        "10000-01-01 00:00:00",
        "2024-01-31 00:00:00\n",
        "yesterday",
    ],
    "Owner": [" ann", "ann ", " ", "a\nb", "a\x00b", "a\x1bb", "x" * 101, "\u202eann"],
    "Size": [
        "-1",
        ".5",
        "1.",
        "1,5",
        "1e3",
        "NaN",
        "Infinity",
        "1" * 13,
        "0." + "1" * 13,
        "x",
        " 1",
    ],
    "LicenceTypeID": [*NUMBERS, str(LARGEST_ID + 1)],
    "Template": ["True", "1", "yes", " true", "null"],
    "Tags": ["x" * (TAG_LENGTH + 1), "a, b\x07", ",".join(map(str, range(MOST_TAGS + 1)))],
    "Visibility": ["Published", "removed", "hidden", " private"],
    "Title": ["a\0b"],
    "Description": ["\0"],
    "Category": ["\0"],
    "Copyright": ["\0"],
    "Software": ["\0"],
}


@pytest.mark.parametrize("key", [field.key for field in FIELDS])
def test_impossible_values_name_their_key(key: str) -> None:
    for text in IMPOSSIBLE[key]:
        with pytest.raises(InvalidRecord, match=rf"^{key} (must be|holds) ") as caught:
            parse_record(orjson.dumps({"Title": "t", key: text}))
        assert "\n" not in str(caught.value)
        assert len(str(caught.value)) < 250


@pytest.mark.parametrize("key", [field.key for field in FIELDS])
@pytest.mark.parametrize("value", [1, 1.5, True, [], {}, ["x"]])
def test_values_that_are_no_strings_name_their_key(key: str, value: Any) -> None:
    with pytest.raises(InvalidRecord, match=f"^{key} must be a string$"):
        parse_record(orjson.dumps({key: value}))


DEEP = 100_000


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b" ",
        b"{",
        b"[]",
        b'"x"',
        b"null",
        b"5",
        b"NaN",
        b"{} {}",
        b"\xff",
        b'{"Title": "\xff"}',
        b'{"Title": "\xed\xa0\x80"}',
        b'{"Title": "\\ud800"}',
        b'{"\\ud800": "x"}',
        b'{"Views": NaN}',
        b'{"Other": Infinity}',
        b'{"Views": ' + b"9" * 5000 + b"}",
        b'{"Title": "a\nb"}',
        b'{"Title": "t",}',
        b"{'Title': 't'}",
        b"\xef\xbb\xbf{}",
        b"[" * DEEP,
        b'{"a":' * DEEP,
        b'{"Title": ' + b"[" * DEEP + b"]" * DEEP + b"}",
        b'{"Title": "' + b"x" * LONGEST_LINE + b'"}',
    ],
)
def test_lines_that_are_no_records(line: bytes) -> None:
    with pytest.raises(InvalidRecord):
        parse_record(line)


def test_the_last_of_two_equal_keys_counts() -> None:
    assert parse_record(b'{"Title": 1, "Title": "b"}') == (MapDraft(title="b"), [])


def test_a_line_of_the_longest_length_is_read() -> None:
    line = b'{"Title":"x"}'.ljust(LONGEST_LINE)
    assert parse_record(line)[0].title == "x"
    with pytest.raises(InvalidRecord, match="longer than"):
        parse_record(line + b" ")


@pytest.mark.parametrize("letter", ["x", "é", "😀"])
def test_a_value_of_the_longest_length_is_read(letter: str) -> None:
    text = letter * (LONGEST_TEXT // len(letter.encode()))
    record = orjson.dumps({"Description": text})
    assert parse_record(record)[0].description == text
    with pytest.raises(InvalidRecord, match="Description is longer than"):
        parse_record(orjson.dumps({"Description": text + letter}))


def test_the_largest_values_come_out_as_they_went_in() -> None:
    values = {"Title": "\x01" * LONGEST_TEXT, "Description": '"' * LONGEST_TEXT, "Size": LARGEST}
    draft, _ = parse_record(orjson.dumps(values))
    assert draft.size is not None
    assert format_size(draft.size) == LARGEST
    with pytest.raises(InvalidRecord, match="Size must be"):
        parse_record(b'{"Size": "999999999999.996"}')


@given(st.binary())
def test_bytes_that_are_no_object_are_invalid(line: bytes) -> None:
    assume(b"{" not in line)
    with pytest.raises(InvalidRecord):
        parse_record(line)


@given(
    st.dictionaries(
        st.sampled_from([field.key for field in FIELDS]),
        st.recursive(
            st.none() | st.booleans() | st.integers(0, 9) | TEXTS,
            lambda below: st.lists(below, max_size=2),
            max_leaves=3,
        ),
    )
)
def test_any_object_is_a_record_or_names_a_key(record: dict[str, object]) -> None:
    line = orjson.dumps(record)
    try:
        draft, unknown = parse_record(line)
    except InvalidRecord as error:
        assert str(error).split()[0] in record  # noqa: PT017 -- both outcomes are tested
    else:
        assert unknown == []
        assert isinstance(draft, MapDraft)


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("File_ID", "007", 7),
        ("File_ID", str(LARGEST_FILE_ID), LARGEST_FILE_ID),
        ("Views", str(LARGEST_COUNT), LARGEST_COUNT),
        ("ID", "x" * 32, "x" * 32),
        ("DateAdded", "1970-01-01 00:00:00", 0),
        ("DateAdded", "1970-01-01 00:00:00.5", 500),
        ("DateAdded", "1970-01-01 00:00:00.000999", 0),
        ("DateAdded", "1969-12-31 23:59:59.999", -1),
        ("Size", "1", 100),
        ("Size", "0.005", 1),
        ("Size", "0.004", 0),
        ("Size", "12.345", 1235),
        ("Size", "999999999999.99", 99999999999999),
        ("Template", "false", False),
        ("URL", "https://a.example/ä?b#c", "https://a.example/ä?b#c"),
        ("Owner", "Ann B. Ü", "Ann B. Ü"),
        ("Category", " ", " "),
    ],
)
def test_values(key: str, text: str, value: object) -> None:
    (field,) = (field for field in FIELDS if field.key == key)
    draft, _ = parse_record(orjson.dumps({key: text}))
    assert getattr(draft, field.name) == value


@given(DATES)
def test_dates_as_the_standard_library_has_them(milliseconds: int) -> None:
    text = format_date(milliseconds)
    read = datetime.fromisoformat(text).replace(tzinfo=UTC)
    seconds, rest = divmod(milliseconds, 1000)
    assert read.microsecond == rest * 1000
    assert (read - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds() // 1 == seconds
    assert len(text) == len("2024-01-31 23:59:59.000")


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0.00"), (5, "0.00"), (6, "0.01"), (1024, "1.00"), (1536, "1.50"), (1048575, "1024.00")],
)
def test_sizes(count: int, text: str) -> None:
    assert format_size(size_of(count)) == text


def test_an_unknown_size_is_empty() -> None:
    assert format_size(None) == ""
