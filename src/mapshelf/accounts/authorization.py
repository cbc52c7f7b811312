"""The OAuth 2 authorization endpoint: validates requests of programs and builds the responses.

It implements the authorization code grant (RFC 6749, section 4.1) as RFC 9700 recommends: with
PKCE, exact redirect URIs, and the issuer in the response (RFC 9207). No other response type exists.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

from mapshelf.accounts.oauth_programs import find_program, may_redirect_to, meant_scopes
from mapshelf.errors import NotFound, OAuthRefusal
from mapshelf.model import MINUTE, AuthorizationCode, Program, User
from mapshelf.store.contract import Programs, RegisteredPrograms
from mapshelf.tokens import CODE_PREFIX, DEFAULT_SCOPES, SCOPES, new_token, token_digest

CODE_LIFETIME: Final = MINUTE
"""Lifetime of a code in milliseconds."""

PARAMETERS: Final = (
    "client_id",
    "redirect_uri",
    "response_type",
    "response_mode",
    "scope",
    "state",
    "code_challenge",
    "code_challenge_method",
)
"""The supported parameters of an authorization request."""

_CHALLENGE: Final = re.compile("[A-Za-z0-9_-]{43}")
"""A SHA-256 in base64url (RFC 7636, section 4.2)."""


@dataclass(frozen=True, slots=True)
class ReturnAddress:
    """Where the browser returns with the response.

    Attributes:
        uri: a redirect URI of the program.
        given: the redirect URI in the request, empty if the request has none.
        state: the state to return to the program, empty if there is none.
    """

    uri: str
    given: str
    state: str


@dataclass(frozen=True, slots=True)
class AuthorizationRequest:
    """The authorization request of a program.

    Attributes:
        program: the program.
        back: where the response goes.
        scopes: the requested scopes.
        challenge: the PKCE challenge, empty if there is none.
    """

    program: Program
    back: ReturnAddress
    scopes: tuple[str, ...]
    challenge: str


def read_return_address(
    store: RegisteredPrograms, parameters: Mapping[str, str]
) -> tuple[Program, ReturnAddress]:
    """Return the program that sent the request, and where the response goes.

    Raises:
        OAuthRefusal: one of them is unknown. Do not redirect the browser in this case: an attacker
            may have chosen the address (RFC 9700, section 4.11).
    """
    program = find_program(store, parameters.get("client_id", ""))
    if program is None:
        raise OAuthRefusal("invalid_request", "This program is not registered here.")
    given = parameters.get("redirect_uri", "")
    known = program.redirect_uris
    if given:
        if not may_redirect_to(program, given):
            raise OAuthRefusal(
                "invalid_request", "This redirect_uri is not registered for the program."
            )
    elif len(known) != 1:
        raise OAuthRefusal("invalid_request", "The redirect_uri is missing.")
    return program, ReturnAddress(given or known[0], given, parameters.get("state", ""))


def read_request(
    program: Program, back: ReturnAddress, parameters: Mapping[str, str]
) -> AuthorizationRequest:
    """Return the validated request of a program.

    Raises:
        OAuthRefusal: the request is invalid; the program is informed (``refusal_address``).
    """
    kind = parameters.get("response_type")
    if kind != "code":
        reason = "unsupported_response_type" if kind else "invalid_request"
        raise OAuthRefusal(reason, "The response_type must be code.")
    if parameters.get("response_mode", "query") != "query":
        raise OAuthRefusal("invalid_request", "The response_mode must be query.")
    meant = meant_scopes(program, read_scopes(parameters.get("scope", "")))
    scopes = tuple(scope for scope in SCOPES if scope in meant)
    return AuthorizationRequest(program, back, scopes, _challenge(program, parameters))


def read_scopes(text: str) -> tuple[str, ...]:
    """Return the requested scopes, by default those of a personal token.

    Raises:
        OAuthRefusal: one of the scopes does not exist.
    """
    asked = text.split()
    if not asked:
        return DEFAULT_SCOPES
    if not set(asked) <= set(SCOPES):
        raise OAuthRefusal("invalid_scope", f"The scopes are {', '.join(SCOPES)}.")
    return tuple(scope for scope in SCOPES if scope in asked)


def allow(store: Programs, request: AuthorizationRequest, user: User, issuer: str, now: int) -> str:
    """Authorize the program; return the address to redirect the browser to, with a code.

    Raises:
        NotFound: the program has just been removed.
        Conflict: the user has just been disabled.
    """
    code = new_token(CODE_PREFIX)
    store.add_code(
        AuthorizationCode(
            token_digest(code),
            request.program.id,
            user.id,
            " ".join(request.scopes),
            request.back.given,
            request.challenge,
            now + CODE_LIFETIME,
        )
    )
    return _answer(request.back, {"code": code}, issuer)


def refusal_address(back: ReturnAddress, refusal: OAuthRefusal, issuer: str) -> str:
    """Return the redirect address that reports a refusal to the program."""
    answer = {"error": refusal.reason, "error_description": str(refusal)}
    return _answer(back, answer, issuer)


def denial() -> OAuthRefusal:
    """Return the refusal for a user who denies access."""
    return OAuthRefusal("access_denied", "The user did not allow it.")


def withdraw(store: Programs, user: User, program_id: str) -> None:
    """Revoke everything that a user granted to a program, if anything."""
    try:
        store.withdraw_grants(user.id, program_id)
    except NotFound:
        return


def _answer(back: ReturnAddress, answer: Mapping[str, str], issuer: str) -> str:
    """Return the redirect URI with a response.

    ``iss`` comes last (RFC 9207): some programs read the code up to the end of the line, so some
    parameter must follow it.
    """
    state = {"state": back.state} if back.state else {}
    separator = "&" if "?" in back.uri else "?"
    return back.uri + separator + urlencode({**answer, **state, "iss": issuer})


def _challenge(program: Program, parameters: Mapping[str, str]) -> str:
    challenge = parameters.get("code_challenge", "")
    method = parameters.get("code_challenge_method", "")
    if not challenge:
        if program.is_public or method:
            raise OAuthRefusal("invalid_request", "The program must send a code_challenge (PKCE).")
        return ""
    if method != "S256":
        raise OAuthRefusal("invalid_request", "The code_challenge_method must be S256.")
    if not _CHALLENGE.fullmatch(challenge):
        raise OAuthRefusal("invalid_request", "The code_challenge is not a SHA-256 in base64url.")
    return challenge
