"""Tokens: their format, their checksum, and when they are valid."""

import hashlib
import re
import zlib
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mapshelf.model import CLOCK_TOLERANCE, HOUR, Credential, Token, TokenKind, User
from mapshelf.tokens import (
    ALPHABET,
    TOKEN_LENGTH,
    is_valid,
    is_well_formed,
    new_token,
    token_digest,
)

NOW = 1_700_000_000_000
TOKEN = Token(1, "ann", "", "", created=0, expires=None, revoked=None, last_used=None)
USER = User(1, "ann", 0, disabled=False)


def test_form() -> None:
    token = new_token()
    assert re.fullmatch("msh_[0-9A-Za-z]{49}", token)
    assert len(token) == TOKEN_LENGTH
    assert is_well_formed(token)


def test_the_checksum_is_crc_32_in_base62() -> None:
    token = new_token()
    number = 0
    for digit in token[-6:]:
        number = number * 62 + ALPHABET.index(digit)
    assert number == zlib.crc32(token[4:-6].encode())


def test_tokens_differ_and_use_their_whole_range() -> None:
    tokens = {new_token() for _ in range(2000)}
    assert len(tokens) == 2000
    assert {char for token in tokens for char in token[5:-6]} == set(ALPHABET)


@given(place=st.integers(0, TOKEN_LENGTH - 1), char=st.sampled_from([*ALPHABET, "é", " ", "\0"]))
def test_any_single_typing_error_is_noticed(place: int, char: str) -> None:
    token = new_token()
    altered = token[:place] + char + token[place + 1 :]
    assert is_well_formed(altered) == (altered == token)


@given(st.text())
def test_other_texts_are_no_tokens(text: str) -> None:
    token = new_token()
    for wrong in (text, f"msh_{text}", token[:-1], token + "0", token.upper(), f" {token}"):
        assert not is_well_formed(wrong)


def test_the_digest_is_sha_256() -> None:
    token = new_token()
    assert token_digest(token) == hashlib.sha256(token.encode()).digest()
    assert token not in repr(token_digest(token))


@pytest.mark.parametrize("disabled", [False, True])
@pytest.mark.parametrize("revoked", [None, 0, NOW - 1, NOW, NOW + 1])
@pytest.mark.parametrize(
    ("expires", "in_time"),
    [(None, True), (NOW + 1, True), (NOW, False), (NOW - 1, False), (0, False)],
)
def test_is_valid(expires: int | None, in_time: bool, revoked: int | None, disabled: bool) -> None:
    token = replace(TOKEN, expires=expires, revoked=revoked)
    credential = Credential(token, replace(USER, disabled=disabled))
    assert is_valid(credential, NOW) == (in_time and revoked is None and not disabled)


@pytest.mark.parametrize("kind", TokenKind)
@pytest.mark.parametrize("ahead", [0, CLOCK_TOLERANCE, CLOCK_TOLERANCE + 1, 26 * HOUR])
def test_access_tokens_of_a_clock_that_was_ahead_last_no_longer(
    kind: TokenKind, ahead: int
) -> None:
    """People choose how long others last, or they last so long that it hardly matters."""
    token = replace(TOKEN, kind=kind, created=NOW + ahead, expires=NOW + ahead + HOUR)
    valid = kind is not TokenKind.ACCESS or ahead <= CLOCK_TOLERANCE
    assert is_valid(Credential(token, USER), NOW) is valid
