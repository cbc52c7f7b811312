"""Permissions: one table that says which roles and scopes each operation requires.

The API, the pages, the documentation and the tests all read it. Two things decide: the credential
(the scopes of a token, or a session, which has all scopes), and the role of its user. Operations on
the account itself require a session: a stolen token must not create other tokens or change the
password.

Operations on a map or a collection also depend on its owner and its visibility (``may_see``,
``may_change``). Each reader sees only some of the maps in a collection (``is_shown``).
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
    """The requirements of an operation.

    Attributes:
        scope: the required scope; ``None`` if the operation requires no token.
        session_only: whether the operation requires a session, and accepts no other token.
        roles: the roles of users who may use the operation.
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
"""The requirements of every operation.

In a private catalogue, pictures require the scope to read maps, and pages require signing in."""


def allows(permission: Permission, credential: Credential | None) -> bool:
    """Return whether a valid credential, or none, satisfies ``permission``."""
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
    """Return whether a user, or an anonymous visitor, may see a map or a collection by its address.

    The caller has checked that they may see the catalogue.
    """
    if found.visibility in (Visibility.PUBLISHED, Visibility.UNLISTED):
        return True
    return found.visibility is Visibility.PRIVATE and user is not None and may_change(found, user)


def may_change(found: Map | Collection, user: User) -> bool:
    """Return whether a user who may see a map or a collection may change and remove it."""
    return owns(found, user) or user.role is Role.ADMINISTRATOR


def is_shown(found: Map, collection: Collection, user: User | None) -> bool:
    """Return whether a collection shows one of its maps to a user or an anonymous visitor.

    The caller has checked that they may see the collection. A collection reveals no map whose owner
    has not shared it: an unlisted map is shown only in an unlisted collection of the same owner.
    """
    if found.visibility is Visibility.PUBLISHED:
        return True
    if user is not None and (may_change(found, user) or owns(collection, user)):
        return may_see(found, user)
    passed_on = name_key(found.owner) == name_key(collection.owner)
    return found.visibility is collection.visibility is Visibility.UNLISTED and passed_on


def may_undo(removed: RemovedMap, user: User, now: int) -> bool:
    """Return whether a user may undo a removal: for 30 days, if they removed their own map.

    Only administrators can restore what an administrator removed.
    """
    own = owns(removed.map, user) and name_key(removed.removed_by) == name_key(user.name)
    return removed.removed > now - UNDOABLE and (own or user.role is Role.ADMINISTRATOR)


def owns(found: Map | Collection, user: User) -> bool:
    """Return whether a map or a collection belongs to a user."""
    return name_key(found.owner) == name_key(user.name)
