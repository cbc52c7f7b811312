"""Verifies ID tokens (OpenID Connect Core 1.0, section 3.1.3.7). Only this module uses joserfc.

Only signatures by the provider's published keys are accepted: ``none`` means no signature, and HMAC
would use the client secret, which others may know, as the key.
"""

import hmac
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from joserfc import jws, jwt
from joserfc.errors import BadSignatureError, JoseError
from joserfc.jwk import ECKey, OctKey, OKPKey, RSAKey, import_key

ALGORITHMS: Final = (
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512", "Ed25519"),
)

LEEWAY: Final = 60
"""Tolerated difference between the clocks of the provider and this machine, in seconds."""

LONGEST: Final = 20_000
"""Maximum characters of an ID token."""

LONGEST_SUBJECT: Final = 255
"""Maximum characters of a subject (section 2)."""

SMALLEST_RSA_KEY: Final = 2048
"""Minimum size of an RSA key in bits (RFC 7518, section 3.3)."""

Key = RSAKey | ECKey | OKPKey


class UnknownKey(Exception):
    """None of the provider's keys that we have loaded made the signature."""


class WrongToken(Exception):
    """An ID token is invalid or not for us. The message is for the operator's log."""


@dataclass(frozen=True, slots=True)
class Expected:
    """The expected contents of an ID token.

    Attributes:
        issuer: the provider.
        client_id: our client id.
        nonce: the nonce of the attempt.
        now: seconds since 1970-01-01 UTC.
    """

    issuer: str
    client_id: str
    nonce: str
    now: int


def read_keys(published: Iterable[object]) -> list[Key]:
    """Return the keys of a JSON Web Key Set that can verify signatures; skip others."""
    keys = []
    for one in published:
        try:
            key = import_key(one) if isinstance(one, dict) else None
        except (JoseError, ValueError, TypeError, KeyError):
            continue
        if key is not None and not isinstance(key, OctKey) and _may_verify(key):
            keys.append(key)
    return keys


def verified_claims(token: str, keys: Iterable[Key], expected: Expected) -> Mapping[str, Any]:
    """Return the claims of an ID token.

    Raises:
        UnknownKey: the token names none of ``keys``, or one that did not sign it. The provider may
            have replaced a key that has no name, or given its name to another.
        WrongToken: the token is invalid, expired, or not for us.
    """
    if len(token) > LONGEST:
        raise WrongToken("the ID token is too long")
    try:
        algorithm, name = _header(token)
        if algorithm not in ALGORITHMS:
            raise WrongToken(f"the ID token is signed by {algorithm!r}, which is not accepted")
        claims = jwt.decode(token, _key(keys, name, algorithm), algorithms=[algorithm]).claims
        jwt.JWTClaimsRegistry(
            now=expected.now,
            leeway=LEEWAY,
            iss={"essential": True, "value": expected.issuer},
            aud={"essential": True, "value": expected.client_id},
            sub={"essential": True},
            exp={"essential": True},
            iat={"essential": True},
        ).validate(claims)
    except BadSignatureError as error:
        raise UnknownKey("the signature of the ID token is wrong") from error
    except (JoseError, ValueError, TypeError, RecursionError) as error:
        raise WrongToken(f"the ID token is not valid: {error}") from error
    _check_parties(claims, expected.client_id)
    nonce = claims.get("nonce")
    if not isinstance(nonce, str) or not hmac.compare_digest(
        nonce.encode("utf-8", "surrogatepass"), expected.nonce.encode()
    ):
        raise WrongToken("the ID token has the nonce of another attempt")
    if not is_subject(claims["sub"]):
        raise WrongToken("the ID token has an invalid subject")
    return claims


def is_subject(found: object) -> bool:
    """Return whether a value is a valid subject (section 2)."""
    return (
        isinstance(found, str)
        and 0 < len(found) <= LONGEST_SUBJECT
        and found.isascii()
        and found.isprintable()
    )


def _check_parties(claims: Mapping[str, Any], client_id: str) -> None:
    """Check the audiences and the authorized party of a token (rules 3 to 5)."""
    audience, party = claims["aud"], claims.get("azp")
    if isinstance(audience, list) and len(audience) > 1 and party is None:
        raise WrongToken(
            "the ID token is for several clients, and does not name the one that asked"
        )
    if party is not None and party != client_id:
        raise WrongToken("another client asked for the ID token")


def _header(token: str) -> tuple[str, str | None]:
    header = jws.extract_compact(token.encode("ascii")).headers()
    algorithm, name = header.get("alg"), header.get("kid")
    if not isinstance(algorithm, str) or not isinstance(name, str | None):
        raise WrongToken("the ID token has an invalid header")
    return algorithm, name


def _key(keys: Iterable[Key], name: str | None, algorithm: str) -> Key:
    """Return the key that a token names; without a name, the only key there is."""
    fitting = [key for key in keys if _fits(key, algorithm)]
    if name is not None:
        fitting = [key for key in fitting if key.kid == name]
    if len(fitting) != 1:
        raise UnknownKey(f"the provider has {len(fitting)} keys {name!r} for {algorithm}")
    return fitting[0]


def _fits(key: Key, algorithm: str) -> bool:
    kinds = {"R": RSAKey, "P": RSAKey}
    kind = OKPKey if algorithm.startswith("Ed") else kinds.get(algorithm[0], ECKey)
    return isinstance(key, kind) and key.get("alg", algorithm) == algorithm


def _may_verify(key: Key) -> bool:
    operations = key.get("key_ops", ["verify"])
    if key.get("use", "sig") != "sig" or "verify" not in (operations or ()):
        return False
    return not isinstance(key, RSAKey) or key.raw_value.key_size >= SMALLEST_RSA_KEY
