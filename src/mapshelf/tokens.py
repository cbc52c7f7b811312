"""Access tokens: how they are made, recognised and kept.

A token is ``msh_``, 43 base62 characters carrying 256 random bits, and 6 base62 characters of
their CRC-32. The prefix lets secret scanners find leaked tokens; the checksum lets typing errors
be told from guesses without asking the store. Only the SHA-256 digest is stored: with 256 random
bits there is nothing a slow password hash would add.
"""

import hashlib
import secrets
import string
import zlib
from typing import Final

from mapshelf.model import Credential

PREFIX: Final = "msh_"
ALPHABET: Final = string.digits + string.ascii_uppercase + string.ascii_lowercase
SECRET_LENGTH: Final = 43
CHECKSUM_LENGTH: Final = 6
TOKEN_LENGTH: Final = len(PREFIX) + SECRET_LENGTH + CHECKSUM_LENGTH


def new_token() -> str:
    """Return a fresh token. It is shown to its owner once and kept nowhere in clear."""
    secret = _base62(secrets.randbits(256), SECRET_LENGTH)
    return PREFIX + secret + _checksum(secret)


def is_well_formed(token: str) -> bool:
    """Tell whether ``token`` has the form and checksum of a token, valid or not."""
    if len(token) != TOKEN_LENGTH or not token.startswith(PREFIX) or not token.isascii():
        return False
    secret = token[len(PREFIX) : -CHECKSUM_LENGTH]
    return token[-CHECKSUM_LENGTH:] == _checksum(secret)


def token_digest(token: str) -> bytes:
    """Return what the store keeps instead of ``token``: its SHA-256 digest, 32 bytes."""
    return hashlib.sha256(token.encode()).digest()


def is_valid(credential: Credential, now: int) -> bool:
    """Tell whether ``credential`` may be used at ``now`` (milliseconds since 1970 UTC)."""
    token = credential.token
    expired = token.expires is not None and token.expires <= now
    return token.revoked is None and not expired and not credential.user.disabled


def _checksum(secret: str) -> str:
    return _base62(zlib.crc32(secret.encode()), CHECKSUM_LENGTH)


def _base62(number: int, length: int) -> str:
    digits = []
    for _ in range(length):
        number, digit = divmod(number, len(ALPHABET))
        digits.append(ALPHABET[digit])
    return "".join(reversed(digits))
