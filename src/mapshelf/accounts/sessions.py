"""Sessions: how they begin, and what the account page calls them."""

import re
from dataclasses import dataclass
from typing import Final

from mapshelf.accounts.audit import done_by
from mapshelf.model import DAY, AuditEvent, PasswordRecord, Token, User
from mapshelf.store.contract import SignIn
from mapshelf.tokens import SESSION_PREFIX, new_token, token_digest

LIFETIME: Final = 30 * DAY
"""How long a session lasts at most, in milliseconds."""

LABEL_LENGTH: Final = 100
"""Most characters of the label of a session."""

AGENT_LENGTH: Final = 1000
"""Characters of a User-Agent that are looked at."""

_BROWSERS: Final = (
    ("Edge", r"\bEdg(?:e|A|iOS)?/"),
    ("Opera", r"\bOPR/|\bOpera\b"),
    ("Samsung Internet", r"\bSamsungBrowser/"),
    ("Vivaldi", r"\bVivaldi/"),
    ("Firefox", r"\b(?:Firefox|FxiOS)/"),
    ("Chrome", r"\b(?:Chrome|CriOS|Chromium)/"),
    ("Safari", r"\bSafari/"),
)
"""Browsers with what their User-Agents contain. Many also contain what those below them do."""

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
    """The browser of somebody who signs in, and when that is.

    Attributes:
        now: milliseconds since 1970-01-01 UTC.
        address: its address as text, for IPv6 its network; empty if it is unknown.
        agent: its User-Agent.
        session: digest of the secret of the session that it has, which the new one replaces.
    """

    now: int
    address: str
    agent: str = ""
    session: bytes | None = None


@dataclass(frozen=True, slots=True)
class NewSession:
    """A session that has just begun, with its secret, which is kept nowhere in clear."""

    user: User
    token: Token
    secret: str


def begin_session(
    store: SignIn, record: PasswordRecord, client: Client, prefix: str = SESSION_PREFIX
) -> NewSession:
    """Begin a session.

    Args:
        store: keeps it.
        record: the user, with the encoded hash with which the password was checked, if it was.
        client: the browser that it is in.
        prefix: of the secret; it says who begins the session (``tokens.py``).

    Raises:
        NotFound: the user does not exist.
        Conflict: the user may not sign in, or the password has changed meanwhile.
    """
    secret = new_token(prefix)
    with store.auditing(done_by(record.user, client.address, AuditEvent.SIGN_IN)):
        token = store.add_session(
            record.user.id,
            token_digest(secret),
            session_label(client.agent),
            client.now + LIFETIME,
            client.session,
            encoded=record.encoded,
        )
    return NewSession(record.user, token, secret)


def session_label(agent: str) -> str:
    """Return what to call a session: "Firefox on Linux", or else the User-Agent, shortened."""
    agent = "".join(letter for letter in agent[:AGENT_LENGTH] if letter.isprintable())
    browser, system = (_first(names, agent) for names in (_BROWSERS, _SYSTEMS))
    if browser and system:
        return f"{browser} on {system}"
    return browser or " ".join(agent.split())[:LABEL_LENGTH]


def _first(names: tuple[tuple[str, str], ...], agent: str) -> str:
    return next((name for name, pattern in names if re.search(pattern, agent)), "")
