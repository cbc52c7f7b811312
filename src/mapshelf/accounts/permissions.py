"""Who may do what: one table, which the API, the pages, the docs and the tests read.

Two things decide: what presents the request (the scopes of a token, or a session, which has all of
them), and the role of its user. What concerns the account itself takes a session: a token that got
into wrong hands cannot make further ones, or change the password.

What concerns one map or one collection also depends on whose it is, and on who sees it
(``may_see``, ``may_change``). Of the maps in a collection, each reader sees some (``is_shown``).
"""

from dataclasses import dataclass
from typing import Final

from mapshelf.model import (
    UNDOABLE,
    Collection,
    Credential,
    Map,
    RemovedMap,
    Role,
    TokenKind,
    User,
    Visibility,
    name_key,
)
from mapshelf.tokens import ACCOUNT, FEEDS, MAPS, MAPS_WRITE, scopes_of


@dataclass(frozen=True, slots=True)
class Permission:
    """What an operation asks of those who do it.

    Attributes:
        scope: what a token must allow; ``None`` if the operation needs no token.
        session_only: whether it takes a session, and no other token.
        roles: the roles of users who may do it.
    """

    scope: str | None
    session_only: bool = False
    roles: frozenset[Role] = frozenset(Role)


PUBLIC: Final = Permission(None)
_READING: Final = Permission(MAPS)
_WRITING: Final = Permission(MAPS_WRITE)
_OWN_ACCOUNT: Final = Permission(ACCOUNT, session_only=True)
_ADMINISTRATION: Final = Permission(
    ACCOUNT, session_only=True, roles=frozenset({Role.ADMINISTRATOR})
)

PERMISSIONS: Final = {
    "list maps": _READING,
    "search maps": _READING,
    "read a map": _READING,
    "see a picture": PUBLIC,
    "read feeds by a secret address": Permission(FEEDS),
    "ask about the service": PUBLIC,
    "list one's own maps": _READING,
    "list versions": _READING,
    "publish a map": _WRITING,
    "change a map": _WRITING,
    "remove a map": _WRITING,
    "undo a removal": _WRITING,
    "replace a file": _WRITING,
    "restore a version": _WRITING,
    "vote": _WRITING,
    "report a map": _WRITING,
    "list collections": _READING,
    "read a collection": _READING,
    "make a collection": _WRITING,
    "change a collection": _WRITING,
    "remove a collection": _WRITING,
    "report a collection": _WRITING,
    "pin a collection": _ADMINISTRATION,
    "list saved searches": _READING,
    "save a search": _WRITING,
    "read the profile": Permission(ACCOUNT),
    "sign in": PUBLIC,
    "choose a password by link": PUBLIC,
    "register": PUBLIC,
    "sign in by a provider": PUBLIC,
    "sign out": _OWN_ACCOUNT,
    "change the password": _OWN_ACCOUNT,
    "list and end sessions": _OWN_ACCOUNT,
    "link and unlink identities": _OWN_ACCOUNT,
    "add, list and remove passkeys": _OWN_ACCOUNT,
    "make, list and revoke tokens": _OWN_ACCOUNT,
    "make and withdraw the address of feeds": _OWN_ACCOUNT,
    "make, list and withdraw invitations": _ADMINISTRATION,
    "ask to be let in as a program": PUBLIC,
    "let a program in": _OWN_ACCOUNT,
    "list and withdraw programs": _OWN_ACCOUNT,
    "decide about reports": _ADMINISTRATION,
    "see and dismiss refused files": _ADMINISTRATION,
    "rename tags": _ADMINISTRATION,
    "see duplicates": _ADMINISTRATION,
    "export one's own data": _OWN_ACCOUNT,
    "delete one's own account": _OWN_ACCOUNT,
}
"""Every operation, with what it asks.

In a private catalogue, to see a picture is to read a map; its pages are for who is signed in."""


def allows(permission: Permission, credential: Credential | None) -> bool:
    """Tell whether a valid credential, or none, is enough for ``permission``."""
    if permission.scope is None:
        return True
    if credential is None:
        return False
    token = credential.token
    return (
        permission.scope in scopes_of(token.scopes)
        and (token.kind is TokenKind.SESSION or not permission.session_only)
        and credential.user.role in permission.roles
    )


def may_see(found: Map | Collection, user: User | None) -> bool:
    """Tell whether a user, or nobody, may see a map or a collection whose address they have.

    That they may see the catalogue has been checked before.
    """
    if found.visibility in (Visibility.PUBLISHED, Visibility.UNLISTED):
        return True
    return found.visibility is Visibility.PRIVATE and user is not None and may_change(found, user)


def may_change(found: Map | Collection, user: User) -> bool:
    """Tell whether a user who may see a map or a collection may change and remove it."""
    return owns(found, user) or user.role is Role.ADMINISTRATOR


def is_shown(found: Map, collection: Collection, user: User | None) -> bool:
    """Tell whether a collection that a user, or nobody, may see shows them a map that it has.

    A collection tells nobody of a map that they could not find otherwise. So only the owner of an
    unlisted map can pass it on in a collection, and only in one that is unlisted, too.
    """
    if found.visibility is Visibility.PUBLISHED:
        return True
    if user is not None and (may_change(found, user) or owns(collection, user)):
        return may_see(found, user)
    passed_on = name_key(found.owner) == name_key(collection.owner)
    return found.visibility is collection.visibility is Visibility.UNLISTED and passed_on


def may_undo(removed: RemovedMap, user: User, now: int) -> bool:
    """Tell whether a user may undo a removal: for 30 days, whoever removed their own map.

    What an administrator removed, only administrators bring back.
    """
    own = owns(removed.map, user) and name_key(removed.removed_by) == name_key(user.name)
    return removed.removed > now - UNDOABLE and (own or user.role is Role.ADMINISTRATOR)


def owns(found: Map | Collection, user: User) -> bool:
    """Tell whether a map or a collection belongs to a user."""
    return name_key(found.owner) == name_key(user.name)
