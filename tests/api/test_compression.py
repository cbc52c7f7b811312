"""Clients that accept gzip get the same body compressed, with an ETag of its own."""

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mapshelf.api.compression import SMALLEST_COMPRESSED, also_compressed, takes_gzip
from mapshelf.api.http import body_response


@pytest.mark.parametrize(
    ("said", "taken"),
    [
        *((b"gzip", True), (b"GZIP", True), (b"gzip, deflate, br, zstd", True), (b"br,gzip", True)),
        *((b"gzip;q=1.0", True), (b"gzip; q=0.5, br", True), (b"br;q=1, gzip;q=0.001", True)),
        *((b"", False), (b"br", False), (b"identity", False), (b"x-gzip-no", False)),
        *((b"gzip;q=0", False), (b"gzip; q=0.000", False), (b"gzip;q=0, br", False)),
        *((b"*", False), (b";;,,=", False)),
    ],
)
def test_accept_encoding_is_understood(said: bytes, taken: bool) -> None:
    assert takes_gzip(said) == taken


@given(st.binary(max_size=40))
def test_no_accept_encoding_is_an_error(said: bytes) -> None:
    takes_gzip(said)


@given(st.binary(min_size=SMALLEST_COMPRESSED, max_size=5000))
def test_a_compressed_body_decompresses_to_the_original(body: bytes) -> None:
    whole = also_compressed(
        body_response(200, b"text/html", body, [(b"etag", b'"a"'), (b"x", b"y")])
    )
    assert whole.body == body
    assert whole.header(b"etag") == b'"a"'
    compressed = whole.compressed
    assert compressed
    assert gzip.decompress(compressed.body) == body
    assert compressed.header(b"etag") == b'"a-gzip"'
    assert compressed.header(b"content-encoding") == b"gzip"
    assert compressed.header(b"content-length") == str(len(compressed.body)).encode()
    assert compressed.header(b"x") == b"y"
    assert whole.header(b"vary") == compressed.header(b"vary") == b"Accept-Encoding"
    assert len([name for name, _ in compressed.headers if name == b"content-length"]) == 1


def test_small_bodies_are_not_compressed() -> None:
    whole = also_compressed(body_response(200, b"text/html", b"short", ()))
    assert whole.compressed is None
    assert whole.header(b"vary") == b"Accept-Encoding"
