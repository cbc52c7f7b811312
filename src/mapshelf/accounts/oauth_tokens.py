"""The OAuth 2 token endpoint: exchanges codes and refresh tokens for tokens, and revokes tokens.

Each step is one transaction of the store, so that concurrent requests cannot use a code twice.
Tokens are never stored in plain text.
"""

import base64
import hashlib
import hmac
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from mapshelf.accounts.authorization import CODE_LIFETIME
from mapshelf.accounts.device_requests import device_tokens
from mapshelf.accounts.issued_tokens import IssuedTokens, new_tokens
from mapshelf.accounts.oauth_programs import meant_scopes
from mapshelf.errors import OAuthRefusal
from mapshelf.model import MINUTE, AuthorizationCode, Grant, Program, has_come
from mapshelf.store.contract import Programs
from mapshelf.tokens import SCOPES, token_digest

GRACE: Final = MINUTE
"""Milliseconds for which a refresh token may be reused: some programs repeat a request if its
connection is lost."""

DEVICE_GRANT: Final = "urn:ietf:params:oauth:grant-type:device_code"

_VERIFIER: Final = re.compile("[A-Za-z0-9._~-]{43,128}")
"""A PKCE verifier (RFC 7636, section 4.1)."""

Form = Mapping[str, str]
"""The supported parameters of a token request."""


def give_tokens(store: Programs, program: Program, form: Form, now: int) -> IssuedTokens:
    """Answer a token request (RFC 6749, section 3.2) of an authenticated program.

    Raises:
        OAuthRefusal: the program gets no tokens.
    """
    kind = form.get("grant_type", "")
    if not kind and program.legacy and "code" in form:
        kind = "authorization_code"
    give = GRANT_TYPES.get(kind)
    if give is None:
        reason = "unsupported_grant_type" if kind else "invalid_request"
        raise OAuthRefusal(reason, f"The grant_type must be one of {', '.join(GRANT_TYPES)}.")
    return give(store, program, form, now)


def revoke(store: Programs, program: Program, token: str) -> None:
    """Revoke a token of a program (RFC 7009); an unknown token is ignored."""
    store.revoke_program_token(token_digest(token), program.id)


def _for_code(store: Programs, program: Program, form: Form, now: int) -> IssuedTokens:
    digest = token_digest(_required(form, "code"))
    code = store.code(digest)
    if code is None or code.program_id != program.id:
        raise _invalid_grant("code")
    if not has_come(code.expires - CODE_LIFETIME, now):
        raise _invalid_grant("code")
    if form.get("redirect_uri", "") != code.redirect_uri:
        raise OAuthRefusal("invalid_grant", "The redirect_uri is not the one the code was for.")
    _check_verifier(code, form.get("code_verifier", ""))
    issued = new_tokens(now)
    # A repeated request has passed all checks above again: same program, secret and redirect URI.
    grace = GRACE if program.legacy else 0
    return _granted(issued, store.use_code(digest, issued.digests(), now, grace), "code")


def _for_refresh_token(store: Programs, program: Program, form: Form, now: int) -> IssuedTokens:
    digest = token_digest(_required(form, "refresh_token"))
    grant = store.refreshed_grant(digest)
    if grant is None or grant.program_id != program.id:
        raise _invalid_grant("refresh_token")
    issued = new_tokens(now, _narrowed(program, grant, form.get("scope", "")))
    found = store.use_refresh_token(digest, issued.digests(), now, GRACE)
    return _granted(issued, found, "refresh_token")


def _granted(issued: IssuedTokens, grant: Grant | None, name: str) -> IssuedTokens:
    if grant is None:
        raise _invalid_grant(name)
    return issued if issued.scopes else replace(issued, scopes=grant.scopes)


def _narrowed(program: Program, grant: Grant, asked: str) -> str:
    """Return the scopes of an access token: those granted, or the subset that was requested."""
    scopes = (asked.replace("+", " ") if program.legacy else asked).split()
    granted = set(grant.scopes.split())
    if not set(scopes) <= granted:
        raise OAuthRefusal("invalid_scope", "The program asks for more than it was granted.")
    meant = meant_scopes(program, scopes) & granted
    return " ".join(scope for scope in SCOPES if scope in meant)


def _check_verifier(code: AuthorizationCode, verifier: str) -> None:
    """Check that the program that started the flow also finishes it (RFC 7636, section 4.6).

    A verifier without a challenge is rejected, too: an attacker may have removed the challenge
    from the request (RFC 9700, section 4.8.2).

    Raises:
        OAuthRefusal: the verifier does not match.
    """
    right = not code.challenge
    if code.challenge and _VERIFIER.fullmatch(verifier):
        digest = hashlib.sha256(verifier.encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        right = hmac.compare_digest(challenge, code.challenge)
    if not right or (verifier and not code.challenge):
        raise OAuthRefusal("invalid_grant", "The code_verifier does not match the code_challenge.")


def _required(form: Form, name: str) -> str:
    if name not in form:
        raise OAuthRefusal("invalid_request", f"The {name} is missing.")
    return form[name]


def _invalid_grant(name: str) -> OAuthRefusal:
    return OAuthRefusal("invalid_grant", f"The {name} is not valid.")


def _for_device_code(store: Programs, program: Program, form: Form, now: int) -> IssuedTokens:
    return device_tokens(store, program, _required(form, "device_code"), now)


GRANT_TYPES: Final[Mapping[str, Callable[[Programs, Program, Form, int], IssuedTokens]]] = {
    "authorization_code": _for_code,
    "refresh_token": _for_refresh_token,
    DEVICE_GRANT: _for_device_code,
}
"""The supported grant types, and their handlers."""
