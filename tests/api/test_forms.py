"""Parsing of forms, compared with the input of independent encoders.

``httpx`` and ``urllib3`` encode fields and files, which the parser must return, whatever chunks the
body arrives in.
"""

import io
import string
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from typing import BinaryIO, Final
from urllib.parse import parse_qsl, urlencode

import httpx
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from urllib3.fields import RequestField
from urllib3.filepost import encode_multipart_formdata

from mapshelf.api.forms import LONGEST_HEADER, MOST_HEADERS, Form, FormLimits, FormReader
from mapshelf.errors import BodyTooLarge, InvalidParameter, InvalidRequest, MalformedRequest

URL_ENCODED: Final = "application/x-www-form-urlencoded"
LIMITS: Final = FormLimits(fields=50, text=100_000, files=("map", "maps"), file=100_000)

Fields = list[tuple[str, str]]
Files = list[tuple[str, str, bytes]]

TEXT: Final = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=30)
NAMES: Final = st.text(string.ascii_letters + string.digits + "-_ äß中.[]", min_size=1, max_size=10)
FILE_NAMES: Final = st.text(string.ascii_letters + "äß中.-_()%;='", min_size=1, max_size=10)
FIELDS: Final = st.lists(st.tuples(NAMES, TEXT), max_size=8)
FILES: Final = st.lists(
    st.tuples(st.sampled_from(LIMITS.files), FILE_NAMES, st.binary(max_size=300)), max_size=4
)
CUTS: Final = st.lists(st.integers(1, 40), min_size=1, max_size=8)
TOKEN_LETTERS: Final = string.ascii_letters + string.digits + "-_"
BOUNDARIES: Final = st.text(TOKEN_LETTERS, min_size=30, max_size=40)
"""As Java's client makes them: they may begin or end with a hyphen."""


def read(content_type: str, pieces: Sequence[bytes], limits: FormLimits = LIMITS) -> Form:
    """Return a form, with its files still open."""
    reader = FormReader(content_type, limits, io.BytesIO)
    for piece in pieces:
        reader.feed(piece)
    return reader.form()


def cut(body: bytes, sizes: Sequence[int]) -> list[bytes]:
    """Return ``body`` in chunks of these sizes, in turn."""
    pieces, start, turn = [], 0, 0
    while start < len(body):
        size = sizes[turn % len(sizes)]
        pieces.append(body[start : start + size])
        start, turn = start + size, turn + 1
    return pieces


def fields_of(form: Form) -> dict[str, list[str]]:
    return {name: list(values) for name, values in form.fields.items()}


def files_of(form: Form) -> dict[str, list[tuple[str, bytes]]]:
    return {
        name: [(upload.name, upload.content.read()) for upload in uploads]
        for name, uploads in form.files.items()
    }


def grouped(fields: Fields) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in fields:
        found.setdefault(name, []).append(value)
    return found


def by_httpx(fields: Fields, files: Files, boundary: str) -> bytes:
    # Fields are passed as files without a name, because httpx does not keep the order of others.
    parts = [(name, (None, value.encode())) for name, value in fields]
    named = [(name, (file_name, content)) for name, file_name, content in files]
    request = httpx.Request(
        "POST",
        "http://x/",
        files=[*parts, *named],
        headers={"Content-Type": f"multipart/form-data; boundary={boundary}"},
    )
    return request.read()


def by_urllib3(fields: Fields, files: Files, boundary: str) -> bytes:
    parts = [RequestField(name, value.encode()) for name, value in fields]
    parts += [RequestField(name, content, file_name) for name, file_name, content in files]
    for part in parts:
        part.make_multipart()
    return encode_multipart_formdata(parts, boundary)[0]


@pytest.mark.parametrize("encode", [by_httpx, by_urllib3])
@given(FIELDS, FILES, BOUNDARIES, CUTS)
@example([], [], "-" * 30, [1])
@example([("a", "\r\n--" + "-" * 30)], [], "-" * 31, [1])
@example([("a", "b")], [("map", "m", b"x")], "x" * 30 + "-", [7])
def test_multipart(
    encode: Callable[[Fields, Files, str], bytes],
    fields: Fields,
    files: Files,
    boundary: str,
    cuts: list[int],
) -> None:
    body = encode(fields, files, boundary)
    if not fields and not files:
        body = f"--{boundary}--\r\n".encode()
    elif any(f"\r\n--{boundary}" in value for _, value in fields):
        return  # a real encoder would choose another boundary
    form = read(f"multipart/form-data; boundary={boundary}", cut(body, cuts))
    assert fields_of(form) == grouped(fields)
    assert list(form.fields) == list(grouped(fields))
    expected: dict[str, list[tuple[str, bytes]]] = {}
    for name, file_name, content in files:
        expected.setdefault(name, []).append((file_name, content))
    assert files_of(form) == expected


@given(st.lists(st.tuples(TEXT, TEXT), max_size=10), CUTS)
def test_url_encoded(fields: Fields, cuts: list[int]) -> None:
    body = urlencode(fields).encode()
    form = read(URL_ENCODED, cut(body, cuts))
    assert fields_of(form) == grouped(fields)


@given(st.text("ab=&+%;2Fé", max_size=40), CUTS)
def test_url_encoded_by_hand(text: str, cuts: list[int]) -> None:
    """Compared with the standard library, which parses forms as browsers encode them."""
    body = text.encode()
    try:
        expected = grouped(parse_qsl(text, keep_blank_values=True, errors="strict"))
    except UnicodeDecodeError:
        with pytest.raises(InvalidParameter):
            read(URL_ENCODED, cut(body, cuts))
    else:
        assert fields_of(read(URL_ENCODED, cut(body, cuts))) == expected


@given(st.binary(max_size=400), st.booleans(), CUTS)
def test_any_bytes_are_a_form_or_are_refused(body: bytes, multipart: bool, cuts: list[int]) -> None:
    content_type = "multipart/form-data; boundary=x" if multipart else URL_ENCODED
    outcomes = set()
    for pieces in ([body], cut(body, cuts)):
        try:
            outcomes.add(repr(fields_of(read(content_type, pieces))))
        except InvalidRequest:
            outcomes.add("refused")
    assert len(outcomes) == 1


PIECES: Final = st.sampled_from(
    [b"--x", b"\r\n", b"--", b"x", b"Content-Disposition: form-data; name=a", b":", b"\0", b"map"]
)


@given(st.lists(PIECES, max_size=30).map(b"".join), CUTS)
def test_bytes_like_multipart_are_a_form_or_are_refused(body: bytes, cuts: list[int]) -> None:
    test_any_bytes_are_a_form_or_are_refused.hypothesis.inner_test(body, True, cuts)  # type: ignore[attr-defined]


# -- forms of real clients ---------------------------------------------------------------------


def multipart(*parts: tuple[str, bytes], boundary: str = "x") -> bytes:
    """Return a form with these parts, each given as its headers and content."""
    joined = (
        f"--{boundary}\r\n{head}\r\n\r\n".encode() + content + b"\r\n" for head, content in parts
    )
    return b"".join(joined) + f"--{boundary}--\r\n".encode()


def named(name: str, *more: str) -> str:
    return "\r\n".join((f'Content-Disposition: form-data; name="{name}"', *more))


@pytest.mark.parametrize("boundary", ["-" + "a" * 38 + "-", "--" + "_" * 30, "B" * 30 + "--"])
@pytest.mark.parametrize("size", [1, 3, 1000])
def test_a_desktop_program_of_2016(boundary: str, size: int) -> None:
    """Java: each part has a transfer encoding and a charset, and the boundary is unusual."""
    text = ("Content-Type: text/plain; charset=utf-8", "Content-Transfer-Encoding: 8bit")
    file = (
        "Content-Type: application/octet-stream; charset=utf-8",
        "Content-Transfer-Encoding: binary",
    )
    content = bytes(range(256)) + f"\r\n--{boundary[:-1]}".encode()
    body = multipart(
        (named("title", *text), "Größe".encode()),
        (named("description", *text), b"Two\r\nlines"),
        (named("map", *file).replace('"map"', '"map"; filename="a1.xmind"'), content),
        boundary=boundary,
    )
    form = read(f"multipart/form-data; boundary={boundary}", cut(body, [size]))
    assert form.text("title") == "Größe"
    assert form.text("description") == "Two\r\nlines"
    assert files_of(form) == {"map": [("a1.xmind", content)]}


@pytest.mark.parametrize(
    ("sent", "name"),
    [
        ("plan.mm", "plan.mm"),
        (r"C:\maps\plan.mm", "plan.mm"),
        ("../../etc/passwd", "passwd"),
        ("a%22b.mm", 'a"b.mm'),
        (r"a\"b.mm", 'a"b.mm'),
        ("a%0D%0Ab.mm", "ab.mm"),
        ("a\x1b[1mb.mm", "a[1mb.mm"),
        ("плани.mm", "плани.mm"),
        ("..", ".."),
    ],
)
def test_names_of_files(sent: str, name: str) -> None:
    head = f'Content-Disposition: form-data; name="map"; filename="{sent}"'
    form = read("multipart/form-data; boundary=x", [multipart((head, b"content"))])
    assert files_of(form) == {"map": [(name, b"content")]}


def test_a_file_field_without_a_file_is_none() -> None:
    """Browsers send an empty file field for it."""
    head = 'Content-Disposition: form-data; name="map"; filename=""\r\nContent-Type: a/b'
    form = read("multipart/form-data; boundary=x", [multipart((head, b""))])
    assert form.upload("map") is None
    assert form.fields == {}


def test_fields_are_looked_up_by_name() -> None:
    form = read(URL_ENCODED, [b"a=1&b=2&b=3&c"])
    assert (form.text("a"), form.text("c"), form.text("d")) == ("1", "", "")
    assert (list(form.texts("b")), list(form.texts("d"))) == (["2", "3"], [])
    with pytest.raises(InvalidParameter, match="The b field is given twice"):
        form.text("b")
    head = 'Content-Disposition: form-data; name="map"; filename="a"'
    files = read("multipart/form-data; boundary=x", [multipart((head, b"1"), (head, b"2"))])
    with pytest.raises(InvalidParameter, match="The map field is given twice"):
        files.upload("map")


# -- refused forms -----------------------------------------------------------------------------

FILE: Final = 'Content-Disposition: form-data; name="map"; filename="a"'


@pytest.mark.parametrize(
    ("body", "error", "message"),
    [
        (b"", MalformedRequest, "not complete"),
        (b"--x\r\n" + named("a").encode() + b"\r\n\r\nb", MalformedRequest, "not complete"),
        (multipart((named("a"), b"b"))[:-4], MalformedRequest, "not complete"),
        (b"hello", MalformedRequest, "not valid"),
        (b"--y--\r\n", MalformedRequest, "not valid"),
        (multipart(("Content-Type: a/b", b"")), MalformedRequest, "no name"),
        (multipart(("Content-Disposition: form-data", b"")), MalformedRequest, "no name"),
        (multipart(("Content-Disposition: attachment; name=a", b"")), MalformedRequest, "no name"),
        (multipart((f"{named('a')}\r\n{named('b')}", b"")), MalformedRequest, "header twice"),
        (
            multipart((named("a", "Content-Transfer-Encoding: base64"), b"YQ==")),
            MalformedRequest,
            "transfer encoding",
        ),
        (multipart((named("a"), b"\xff")), InvalidParameter, "UTF-8"),
        (multipart((named("a"), b"a\0")), InvalidParameter, "NUL"),
        (multipart((FILE.replace('"a"', '"\0"'), b"")), InvalidParameter, "NUL"),
        (multipart((FILE.replace("map", "other"), b"")), InvalidParameter, "a field for text"),
        (multipart((FILE, b"x" * 1001)), BodyTooLarge, "1000 bytes"),
        (multipart((named("a"), b"x" * 500)), BodyTooLarge, "500 bytes long together"),
        (multipart(*[(named("a"), b"")] * 6), InvalidParameter, "at most 5 fields"),
        (
            multipart((named("a", *(f"X-{n}: y" for n in range(MOST_HEADERS))), b"")),
            MalformedRequest,
            "not valid",
        ),
        (multipart((named("a", "X: " + "y" * LONGEST_HEADER), b"")), MalformedRequest, "not valid"),
    ],
)
@pytest.mark.parametrize("size", [1, 100_000])
def test_multipart_that_is_refused(
    body: bytes, error: type[InvalidRequest], message: str, size: int
) -> None:
    limits = FormLimits(fields=5, text=500, files=("map",), file=1000)
    with pytest.raises(error, match=message) as raised:
        read("multipart/form-data; boundary=x", cut(body, [size]), limits)
    assert type(raised.value) is error
    assert str(raised.value).endswith(".")


@pytest.mark.parametrize(
    ("body", "error", "message"),
    [
        (b"a=%FF", InvalidParameter, "UTF-8"),
        (b"%FF=a", InvalidParameter, "UTF-8"),
        (b"a=%00", InvalidParameter, "NUL"),
        (b"a=\xff", InvalidParameter, "UTF-8"),
        (b"a&" * 6, InvalidParameter, "at most 5 fields"),
        (b"a" * 501, BodyTooLarge, "500 bytes"),
        (b"a=" + b"x" * 500, BodyTooLarge, "500 bytes"),
    ],
)
@pytest.mark.parametrize("size", [1, 100_000])
def test_url_encoded_that_is_refused(
    body: bytes, error: type[InvalidRequest], message: str, size: int
) -> None:
    with pytest.raises(error, match=message):
        read(URL_ENCODED, cut(body, [size]), FormLimits(fields=5, text=500))


def test_forms_keep_no_more_than_their_limits() -> None:
    """The parser stops at the first byte over a limit."""
    limits = replace(LIMITS, text=1000, file=1000)
    reader = FormReader("multipart/form-data; boundary=x", limits, io.BytesIO)
    reader.feed(multipart((FILE, b"x" * 1000))[:-7])
    with pytest.raises(BodyTooLarge):
        reader.feed(b"x" * 100)


@pytest.mark.parametrize(
    "content_type",
    [
        "multipart/form-data",
        "multipart/form-data; boundary=",
        'multipart/form-data; boundary=""',
        "multipart/form-data; boundary=" + "x" * 300,
    ],
)
def test_a_form_in_parts_needs_a_boundary(content_type: str) -> None:
    with pytest.raises(MalformedRequest, match="boundary"):
        FormReader(content_type, LIMITS, io.BytesIO)


def test_a_quoted_boundary() -> None:
    body = multipart((named("a"), b"b"), boundary="x y")
    form = read('Multipart/Form-Data; charset=utf-8; Boundary="x y"', [body])
    assert form.text("a") == "b"


def test_files_are_closed_with_their_form() -> None:
    opened: list[BinaryIO] = []

    def new_file() -> BinaryIO:
        opened.append(io.BytesIO())
        return opened[-1]

    with closing(FormReader("multipart/form-data; boundary=x", LIMITS, new_file)) as reader:
        reader.feed(multipart((FILE, b"1"), (FILE, b"2"))[:-10])
        assert [one.closed for one in opened] == [False, False]
    assert [one.closed for one in opened] == [True, True]
