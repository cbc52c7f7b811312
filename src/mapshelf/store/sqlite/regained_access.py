"""Name the users who have access again, or more of it, because a backup was restored.

A restore does not carry over what was decided about users: it may be there to undo that, after the
account of an administrator was stolen. But who restores must not forget whom they shut out.
"""

from dataclasses import dataclass, field

import apsw

from mapshelf.store.sqlite.replaced_catalogue import ReplacedCatalogue
from mapshelf.store.tables import Row


@dataclass(slots=True)
class Regained:
    """The names of users, in the order of their registration.

    Attributes:
        accounts: those who had deleted their accounts.
        enabled: those who were disabled.
        administrators: those who were members.
        passwords: those who had changed their password, or had it removed.
    """

    accounts: list[str] = field(default_factory=list)
    enabled: list[str] = field(default_factory=list)
    administrators: list[str] = field(default_factory=list)
    passwords: list[str] = field(default_factory=list)


def regained_access(copy: apsw.Connection, replaced: ReplacedCatalogue) -> Regained:
    """Compare the users of a restored ``copy`` with those of the ``replaced`` catalogue.

    Raises:
        StoreDamaged: the replaced catalogue cannot be read.
    """
    regained = Regained()
    users: list[Row] = copy.execute(
        "SELECT id, registered, name, disabled, role, password FROM users"
        " WHERE closed IS NULL ORDER BY id"
    ).fetchall()
    for number, registered, name, disabled, role, password in users:
        for was_closed, was_disabled, former_role, former_password in replaced.rows(
            "SELECT closed IS NOT NULL, disabled, role, password FROM users"
            " WHERE id = ? AND registered = ?",
            (number, registered),
        ):
            if was_closed:
                regained.accounts.append(name)
                continue
            if was_disabled and not disabled:
                regained.enabled.append(name)
            if role != former_role and role == "administrator":
                regained.administrators.append(name)
            if password not in (None, former_password):
                regained.passwords.append(name)
    return regained
