"""Rules for passwords, and password hashes."""

import argon2
import pytest
from argon2.exceptions import HashingError, VerificationError

from mapshelf.accounts import passwords
from mapshelf.accounts.passwords import NO_PASSWORD, PARAMETERS, RULES, hash_password, verify
from mapshelf.errors import Overloaded, StoreDamaged, UnacceptablePassword

GOOD = "correct horse battery"


@pytest.mark.slow
def test_only_the_same_password_verifies() -> None:
    encoded, again = hash_password(GOOD, "ann"), hash_password(GOOD, "ann")
    assert encoded != again
    assert GOOD not in encoded
    for one in (encoded, again):
        assert verify(GOOD, one)
    for other in (GOOD.upper(), GOOD + " ", GOOD[:-1], "", GOOD + "\ud800", GOOD * 50):
        assert not verify(other, encoded)


def test_the_cost_is_the_one_in_the_table() -> None:
    assert argon2.extract_parameters(hash_password(GOOD, "ann")) == PARAMETERS
    assert PARAMETERS.type is argon2.Type.ID
    assert PARAMETERS.memory_cost * PARAMETERS.time_cost >= 2 * 19_456  # OWASP's minimum
    assert PARAMETERS.parallelism == 1


@pytest.mark.slow
def test_without_a_hash_verifying_fails_at_the_same_cost() -> None:
    assert argon2.extract_parameters(NO_PASSWORD) == PARAMETERS
    for password in (GOOD, "", "\0" * 32, "\ud800", "x" * 10_000):
        assert not verify(password, None)


def test_passwords_are_compared_in_normal_form() -> None:
    composed, decomposed, wide = "ﬁne café Å 123", "fine cafe\u0301 A\u030a 123", "ｆine café Å 123"
    encoded = hash_password(decomposed, "ann")
    assert verify(composed, encoded)
    assert verify(wide, encoded)


@pytest.mark.parametrize(
    ("password", "rule"),
    [
        ("", "short"),
        ("ninechars", "short"),
        ("e\u0301" * 9, "short"),  # nine letters in eighteen code points
        ("x7" * 101, "long"),
        ("\ufdfa" * 12, "long"),  # one letter that stands for eighteen
        ("correct horse \udc80", "text"),
        ("Ann.Example", "name"),
        ("ann.example!", "name"),
        ("2026ANN.EXAMPLE", "name"),
        ("ａnn.exampleann.example", "name"),
        ("password123", "common"),
        ("1234567890", "common"),
        ("QWERTYUIOP", "common"),
        ("qWeRtYuIoP", "common"),
        ("passwordpassword", "common"),
        ("PasswordPassword2026!", "common"),
        ("aaaaaaaaaa", "common"),
    ],
)
def test_rules_for_passwords(password: str, rule: str) -> None:
    with pytest.raises(UnacceptablePassword) as caught:
        hash_password(password, "Ann.Example")
    assert caught.value.rule == rule
    assert str(caught.value) == RULES[rule]


@pytest.mark.slow
@pytest.mark.parametrize(
    "password",
    [
        GOOD,
        "ten letter",
        "x7" * 100,
        "密码密码一二三四五六",
        "\N{PARTY POPPER}" * 9 + "!",
        "ann.example likes maps",
        "  spaces  count  ",
        "nul\0 and \n lines",
    ],
)
def test_valid_passwords_are_accepted(password: str) -> None:
    assert verify(password, hash_password(password, "Ann.Example"))


def test_an_empty_name_does_not_count_as_part_of_a_password() -> None:
    assert hash_password(GOOD, "")


def test_malformed_hashes_are_store_damage() -> None:
    for encoded in ("", "x", "$argon2id$v=19$m=8"):
        with pytest.raises(StoreDamaged):
            verify(GOOD, encoded)


def test_without_memory_hashing_reports_overload(monkeypatch: pytest.MonkeyPatch) -> None:
    class Poor:
        def hash(self, password: str) -> str:
            raise HashingError("Memory allocation error")

        def verify(self, encoded: str, password: str) -> bool:
            raise VerificationError("Memory allocation error")

    monkeypatch.setattr(passwords, "HASHER", Poor())
    with pytest.raises(Overloaded):
        hash_password(GOOD, "ann")
    with pytest.raises(Overloaded):
        verify(GOOD, NO_PASSWORD)
