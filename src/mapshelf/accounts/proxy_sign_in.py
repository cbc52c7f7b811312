"""Signing in whom a trusted proxy names: it has signed them in, and vouches for the username.

The session is good only for requests in which the proxy names the same user. So it ends with that
at the proxy, and whoever gets hold of its secret cannot use it without the proxy.
"""

from contextlib import suppress
from typing import Protocol

from mapshelf.accounts.audit import registering
from mapshelf.accounts.sessions import Client, NewSession, begin_session
from mapshelf.errors import AlreadyExists, Conflict, NotFound, ProviderRefusal
from mapshelf.model import PasswordRecord, User
from mapshelf.store.contract import Accounts, Passwords, SignIn
from mapshelf.tokens import PROXY_SESSION_PREFIX


class ProxyStore(Accounts, SignIn, Protocol):
    """What signing in by a proxy takes."""


def sign_in_by_proxy(
    store: ProxyStore, name: str, client: Client, *, auto_create: bool
) -> NewSession:
    """Begin a session for the user with this name; make the account if that is allowed.

    Args:
        store: keeps users and sessions.
        name: what the proxy says, in any case.
        client: the browser.
        auto_create: whether an unknown name gets an account.

    Raises:
        ProviderRefusal: there is no such user, or the user may not sign in.
        StoreUnavailable: the store cannot be reached.
    """
    user = _user(store, name)
    if user is None and auto_create:
        # Another request may be faster.
        with suppress(AlreadyExists), store.auditing(registering(name, client.address)):
            store.add_user(name)
        user = _user(store, name)
    if user is None:
        raise ProviderRefusal("unlinked", "")
    try:
        return begin_session(store, PasswordRecord(user, None), client, PROXY_SESSION_PREFIX)
    except (NotFound, Conflict) as error:
        raise ProviderRefusal("disabled", "") from error


def _user(store: Passwords, name: str) -> User | None:
    record = store.password_of(name)
    return record.user if record else None
