"""Access tokens and session secrets: their generation, format, scopes and validity.

A token is a prefix, 43 base62 characters that encode 256 random bits, and 6 base62 characters of
their CRC-32. The prefix identifies the kind of token, and lets secret scanners find leaked tokens.
The checksum detects typing errors without a query to the store. Only the SHA-256 digest is stored:
with 256 random bits, a slow password hash would add no security.
"""

import hashlib
import secrets
import string
import zlib
from typing import Final

from mapshelf.model import Credential, TokenKind, has_come

PREFIX: Final = "msh_"
"""Prefix of tokens that programs send in the Authorization header."""

SESSION_PREFIX: Final = "mss_"
"""Prefix of session secrets in cookies; as long as ``PREFIX``."""

PROXY_SESSION_PREFIX: Final = "msx_"
"""Prefix of session secrets of proxy sign-ins, valid only while the proxy names the same user."""

LINK_PREFIX: Final = "msl_"
"""Prefix of the secrets in one-time links; as long as ``PREFIX``."""

ACCESS_PREFIX: Final = "mso_"
"""Prefix of access tokens that programs get by OAuth; as long as ``PREFIX``."""

REFRESH_PREFIX: Final = "msr_"
CODE_PREFIX: Final = "msc_"
DEVICE_PREFIX: Final = "msd_"
PROGRAM_SECRET_PREFIX: Final = "msp_"  # noqa: S105 - the beginning of one
"""Prefixes of refresh tokens, authorization codes, device codes, and client secrets."""

FEED_PREFIX: Final = "msf_"
"""Prefix of the secrets in feed addresses; as long as ``PREFIX``."""

ACCOUNT: Final = "account"
"""The scope to read one's own profile."""

MAPS: Final = "maps"
"""The scope to read maps."""

MAPS_WRITE: Final = "maps:write"
"""The scope to publish maps, and to change one's own."""

SCOPES: Final = (ACCOUNT, MAPS, MAPS_WRITE)
"""All scopes that a token can have."""

FEEDS: Final = "feeds"
"""The scope of feed secrets, which no other token has."""

DEFAULT_SCOPES: Final = (ACCOUNT, MAPS)
"""The default scopes of a token."""

LEGACY_SCOPES: Final = "read"
"""``Token.scopes`` of tokens created before there were several scopes."""

ALPHABET: Final = string.digits + string.ascii_uppercase + string.ascii_lowercase
SECRET_LENGTH: Final = 43
CHECKSUM_LENGTH: Final = 6
TOKEN_LENGTH: Final = len(PREFIX) + SECRET_LENGTH + CHECKSUM_LENGTH


def new_token(prefix: str = PREFIX) -> str:
    """Return a new token. Its owner sees it once; it is never stored in plain text."""
    secret = _base62(secrets.randbits(256), SECRET_LENGTH)
    return prefix + secret + _checksum(secret)


def is_well_formed(token: str, prefix: str = PREFIX) -> bool:
    """Return whether ``token`` has the form and checksum of a token, valid or not."""
    if len(token) != TOKEN_LENGTH or not token.startswith(prefix) or not token.isascii():
        return False
    secret = token[len(prefix) : -CHECKSUM_LENGTH]
    return token[-CHECKSUM_LENGTH:] == _checksum(secret)


def is_session_secret(text: str) -> bool:
    """Return whether ``text`` has the form of a session secret, from a password or a proxy."""
    return is_well_formed(text, SESSION_PREFIX) or is_well_formed(text, PROXY_SESSION_PREFIX)


def token_digest(token: str) -> bytes:
    """Return the SHA-256 digest (32 bytes) that the store has in place of ``token``."""
    return hashlib.sha256(token.encode()).digest()


def scopes_of(text: str) -> frozenset[str]:
    """Return the scopes of a token (``Token.scopes``)."""
    return frozenset(DEFAULT_SCOPES if text == LEGACY_SCOPES else text.split())


def is_valid(credential: Credential, now: int) -> bool:
    """Return whether ``credential`` is valid at ``now`` (milliseconds since 1970 UTC)."""
    token = credential.token
    expired = token.expires is not None and token.expires <= now
    # What a clock that was ahead gave to a program would last for longer than an hour.
    early = token.kind is TokenKind.ACCESS and not has_come(token.created, now)
    return token.revoked is None and not (expired or early or credential.user.disabled)


def _checksum(secret: str) -> str:
    return _base62(zlib.crc32(secret.encode()), CHECKSUM_LENGTH)


def _base62(number: int, length: int) -> str:
    digits = []
    for _ in range(length):
        number, digit = divmod(number, len(ALPHABET))
        digits.append(ALPHABET[digit])
    return "".join(reversed(digits))
