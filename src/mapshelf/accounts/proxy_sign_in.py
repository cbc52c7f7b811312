"""Signs in users whom a trusted reverse proxy has authenticated, by the username that it sends.

The session is valid only for requests in which the proxy names the same user. So it ends with the
session at the proxy, and a stolen secret is useless without the proxy.
"""

from contextlib import suppress
from typing import Protocol

from mapshelf.accounts.audit import registering
from mapshelf.accounts.names import is_unusable
from mapshelf.accounts.sessions import Client, NewSession, begin_session
from mapshelf.errors import AlreadyExists, Conflict, NotFound, ProviderRefusal
from mapshelf.model import User
from mapshelf.store.contract import Accounts, Passwords, SignIn
from mapshelf.tokens import PROXY_SESSION_PREFIX


class ProxyStore(Accounts, SignIn, Protocol):
    """The parts of the store that signing in by a proxy needs."""


def sign_in_by_proxy(
    store: ProxyStore, name: str, client: Client, *, auto_create: bool
) -> NewSession:
    """Begin a session for the user with this name; create the account if that is enabled.

    Args:
        store: stores users and sessions.
        name: the username from the proxy, in any case.
        client: the browser.
        auto_create: whether to create an account for an unknown name.

    Raises:
        ProviderRefusal: there is no such user, the user may not sign in, or no new user may have
            this name.
        StoreUnavailable: the store cannot be reached.
    """
    user = _user(store, name)
    if user is None and auto_create:
        if is_unusable(name):
            raise ProviderRefusal("unusable", "")
        # A concurrent request may have created it.
        with suppress(AlreadyExists), store.auditing(registering(name, client.address)):
            store.add_user(name)
        user = _user(store, name)
    if user is None:
        raise ProviderRefusal("unlinked", "")
    try:
        return begin_session(store, user, client, prefix=PROXY_SESSION_PREFIX)
    except (NotFound, Conflict) as error:
        raise ProviderRefusal("disabled", "") from error


def _user(store: Passwords, name: str) -> User | None:
    record = store.password_of(name)
    return record.user if record else None
