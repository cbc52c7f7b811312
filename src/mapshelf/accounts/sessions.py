"""Browser sessions: starting them, and labelling them for the account page."""

import re
from dataclasses import dataclass
from typing import Final

from mapshelf.accounts.audit import done_by
from mapshelf.model import DAY, NO_PROOF, AuditEvent, SignInProof, Token, User
from mapshelf.store.contract import SignIn
from mapshelf.tokens import SESSION_PREFIX, new_token, token_digest

LIFETIME: Final = 30 * DAY
"""Maximum lifetime of a session, in milliseconds."""

LABEL_LENGTH: Final = 100
"""Maximum characters of the label of a session."""

AGENT_LENGTH: Final = 1000
"""Maximum characters of a User-Agent to examine."""

_BROWSERS: Final = (
    ("Edge", r"\bEdg(?:e|A|iOS)?/"),
    ("Opera", r"\bOPR/|\bOpera\b"),
    ("Samsung Internet", r"\bSamsungBrowser/"),
    ("Vivaldi", r"\bVivaldi/"),
    ("Firefox", r"\b(?:Firefox|FxiOS)/"),
    ("Chrome", r"\b(?:Chrome|CriOS|Chromium)/"),
    ("Safari", r"\bSafari/"),
)
"""Browsers and their marks in User-Agents. Many also have the marks of those listed below them."""

_SYSTEMS: Final = (
    ("iPad", r"\biPad\b"),
    ("iPhone", r"\biPhone\b"),
    ("Android", r"\bAndroid\b"),
    ("ChromeOS", r"\bCrOS\b"),
    ("Windows", r"\bWindows\b"),
    ("macOS", r"\bMac(?:intosh| OS X)\b"),
    ("Linux", r"\bLinux\b|\bX11\b"),
)


@dataclass(frozen=True, slots=True)
class Client:
    """The browser of a person who signs in, and the time.

    Attributes:
        now: milliseconds since 1970-01-01 UTC.
        address: its address as text, for IPv6 its network; empty if it is unknown.
        agent: its User-Agent.
        session: digest of the secret of its current session, which the new one replaces.
    """

    now: int
    address: str
    agent: str = ""
    session: bytes | None = None


@dataclass(frozen=True, slots=True)
class NewSession:
    """A new session and its secret, which is never stored in plain text."""

    user: User
    token: Token
    secret: str


def begin_session(
    store: SignIn,
    user: User,
    client: Client,
    proof: SignInProof = NO_PROOF,
    prefix: str = SESSION_PREFIX,
) -> NewSession:
    """Begin a session.

    Args:
        store: stores the session.
        user: the user.
        client: the browser.
        proof: how the user proved who they are.
        prefix: the prefix of the secret, which tells how the session began (``tokens.py``).

    Raises:
        NotFound: the user does not exist.
        Conflict: the user may not sign in, or the proof no longer holds.
    """
    secret = new_token(prefix)
    with store.auditing(done_by(user, client.address, AuditEvent.SIGN_IN)):
        token = store.add_session(
            user.id,
            token_digest(secret),
            session_label(client.agent),
            client.now + LIFETIME,
            client.session,
            proof=proof,
        )
    return NewSession(user, token, secret)


def session_label(agent: str) -> str:
    """Return the label of a session: "Firefox on Linux", or else the shortened User-Agent."""
    agent = "".join(letter for letter in agent[:AGENT_LENGTH] if letter.isprintable())
    browser, system = (_first(names, agent) for names in (_BROWSERS, _SYSTEMS))
    if browser and system:
        return f"{browser} on {system}"
    return browser or " ".join(agent.split())[:LABEL_LENGTH]


def _first(names: tuple[tuple[str, str], ...], agent: str) -> str:
    return next((name for name, pattern in names if re.search(pattern, agent)), "")
