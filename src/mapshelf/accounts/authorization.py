"""Letting a program in: what it asks for, and the answer that the browser takes back to it.

This is the authorization code grant (RFC 6749, section 4.1) as RFC 9700 wants it: with PKCE, exact
redirect URIs, and the issuer in the answer (RFC 9207). There is no other response type.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

from mapshelf.accounts.oauth_programs import find_program, may_redirect_to, meant_scopes
from mapshelf.errors import NotFound, OAuthRefusal
from mapshelf.model import AuthorizationCode, Program, User
from mapshelf.store.contract import Programs, RegisteredPrograms
from mapshelf.tokens import CODE_PREFIX, DEFAULT_SCOPES, SCOPES, new_token, token_digest

CODE_LIFETIME: Final = 60_000
"""How long a code is good, in milliseconds."""

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
"""The parameters of an authorization request that mean something."""

_CHALLENGE: Final = re.compile("[A-Za-z0-9_-]{43}")
"""A SHA-256 in base64url (RFC 7636, section 4.2)."""


@dataclass(frozen=True, slots=True)
class ReturnAddress:
    """Where the browser goes with the answer.

    Attributes:
        uri: a redirect URI of the program.
        given: the same if the request has it, otherwise empty.
        state: what the program wants to have back, empty if nothing.
    """

    uri: str
    given: str
    state: str


@dataclass(frozen=True, slots=True)
class AuthorizationRequest:
    """What a program asks for.

    Attributes:
        program: the program.
        back: where the answer goes.
        scopes: what it wants to do.
        challenge: its PKCE challenge, empty if it has none.
    """

    program: Program
    back: ReturnAddress
    scopes: tuple[str, ...]
    challenge: str


def read_return_address(
    store: RegisteredPrograms, parameters: Mapping[str, str]
) -> tuple[Program, ReturnAddress]:
    """Return the program that asks, and where its answer goes.

    Raises:
        OAuthRefusal: one of them is unknown. Then the browser must not be sent anywhere: whoever
            made the link chose the address (RFC 9700, section 4.11).
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
    """Return what the program asks for.

    Raises:
        OAuthRefusal: it cannot have that; the program is told (``refusal_address``).
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
    """Return the scopes that a program asks for, by default those of a personal token.

    Raises:
        OAuthRefusal: there is one that does not exist.
    """
    asked = text.split()
    if not asked:
        return DEFAULT_SCOPES
    if not set(asked) <= set(SCOPES):
        raise OAuthRefusal("invalid_scope", f"The scopes are {', '.join(SCOPES)}.")
    return tuple(scope for scope in SCOPES if scope in asked)


def allow(store: Programs, request: AuthorizationRequest, user: User, issuer: str, now: int) -> str:
    """Let the program in; return the address that the browser goes to, with a code for it.

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
    """Return the address with which the browser tells the program why it is not let in."""
    answer = {"error": refusal.reason, "error_description": str(refusal)}
    return _answer(back, answer, issuer)


def denial() -> OAuthRefusal:
    """Return why a program is not let in if the user does not want to."""
    return OAuthRefusal("access_denied", "The user did not allow it.")


def withdraw(store: Programs, user: User, program_id: str) -> None:
    """Take back whatever a user allowed a program. It may be taken back already."""
    try:
        store.withdraw_grants(user.id, program_id)
    except NotFound:
        return


def _answer(back: ReturnAddress, answer: Mapping[str, str], issuer: str) -> str:
    """Return the redirect URI with an answer.

    ``iss`` comes last (RFC 9207): some programs take the rest of the line for the code, and with it
    there is always something behind.
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
