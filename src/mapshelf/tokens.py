"""Access tokens and the secrets of sessions: how they are made and recognised, what they allow.

A token is a prefix, 43 base62 characters carrying 256 random bits, and 6 base62 characters of
their CRC-32. The prefix says who presents it, and lets secret scanners find leaked tokens; the
checksum lets typing errors be told from guesses without asking the store. Only the SHA-256 digest
is stored: with 256 random bits there is nothing a slow password hash would add.
"""

import hashlib
import secrets
import string
import zlib
from typing import Final

from mapshelf.model import Credential

PREFIX: Final = "msh_"
"""Of a token, which a program sends in the Authorization header."""

SESSION_PREFIX: Final = "mss_"
"""Of the secret of a session, which a browser sends in a cookie; as long as ``PREFIX``."""

PROXY_SESSION_PREFIX: Final = "msx_"
"""The same of a session that a proxy began, which is good only as long as the proxy names its user.
"""

LINK_PREFIX: Final = "msl_"
"""Of the secret of a one-time link, which is in its address; as long as ``PREFIX``."""

ACCESS_PREFIX: Final = "mso_"
"""Of an access token, which a program gets by OAuth; as long as ``PREFIX``."""

REFRESH_PREFIX: Final = "msr_"
CODE_PREFIX: Final = "msc_"
DEVICE_PREFIX: Final = "msd_"
PROGRAM_SECRET_PREFIX: Final = "msp_"  # noqa: S105 - the beginning of one
"""Of a refresh token, an authorization code, a device code, the secret of a program."""

FEED_PREFIX: Final = "msf_"
"""Of the secret in the address of somebody's own feeds; as long as ``PREFIX``."""

ACCOUNT: Final = "account"
"""The scope that allows to read one's own profile."""

MAPS: Final = "maps"
"""The scope that allows to read maps."""

MAPS_WRITE: Final = "maps:write"
"""The scope that allows to publish maps, and to change one's own."""

SCOPES: Final = (ACCOUNT, MAPS, MAPS_WRITE)
"""What a token may allow."""

FEEDS: Final = "feeds"
"""The scope of the secret of feeds, and of nothing else: no token has it."""

DEFAULT_SCOPES: Final = (ACCOUNT, MAPS)
"""What a token allows unless its owner says otherwise."""

READ: Final = "read"
"""The scopes of a token from before there were several."""

ALPHABET: Final = string.digits + string.ascii_uppercase + string.ascii_lowercase
SECRET_LENGTH: Final = 43
CHECKSUM_LENGTH: Final = 6
TOKEN_LENGTH: Final = len(PREFIX) + SECRET_LENGTH + CHECKSUM_LENGTH


def new_token(prefix: str = PREFIX) -> str:
    """Return a fresh token. It is shown to its owner once and kept nowhere in clear."""
    secret = _base62(secrets.randbits(256), SECRET_LENGTH)
    return prefix + secret + _checksum(secret)


def is_well_formed(token: str, prefix: str = PREFIX) -> bool:
    """Tell whether ``token`` has the form and checksum of a token, valid or not."""
    if len(token) != TOKEN_LENGTH or not token.startswith(prefix) or not token.isascii():
        return False
    secret = token[len(prefix) : -CHECKSUM_LENGTH]
    return token[-CHECKSUM_LENGTH:] == _checksum(secret)


def is_session_secret(text: str) -> bool:
    """Tell whether ``text`` has the form of the secret of a session, whoever began it."""
    return is_well_formed(text, SESSION_PREFIX) or is_well_formed(text, PROXY_SESSION_PREFIX)


def token_digest(token: str) -> bytes:
    """Return what the store keeps instead of ``token``: its SHA-256 digest, 32 bytes."""
    return hashlib.sha256(token.encode()).digest()


def scopes_of(text: str) -> frozenset[str]:
    """Return the scopes of a token (``Token.scopes``)."""
    return frozenset(DEFAULT_SCOPES if text == READ else text.split())


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
