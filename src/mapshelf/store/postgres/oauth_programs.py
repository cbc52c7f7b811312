"""Registered programs in PostgreSQL."""

from typing import Final

from mapshelf.errors import AlreadyExists, NotFound, TooManyPrograms
from mapshelf.model import Program, about_client
from mapshelf.store.oauth import DYNAMIC, PROGRAM, row_of_program
from mapshelf.store.postgres.database import DatabaseUser
from mapshelf.store.postgres.grants import delete_grants

REGISTRATIONS_LOCK: Final = 0x4D61_7050_726F_6773
"""The advisory lock that serializes transactions that count programs ("MapProgs")."""


class PostgresPrograms(DatabaseUser):
    """See ``contract.RegisteredPrograms``."""

    def add_program(self, program: Program, most: int | None = None) -> None:
        """See ``Store``."""
        with self._connections.writing() as link:
            if most is not None:
                link.execute("SELECT pg_advisory_xact_lock(%s)", (REGISTRATIONS_LOCK,))
                ((count,),) = link.rows(DYNAMIC)
                if count >= most:
                    raise TooManyPrograms(f"{most} programs have registered themselves")
            added = link.execute(
                f"INSERT INTO programs ({PROGRAM}) VALUES (%s, %s, %s, %s, %s, %s)"
                " ON CONFLICT DO NOTHING",
                row_of_program(program),
            )
            if not added.rowcount:
                raise AlreadyExists(f"there is a program with the id {program.id} already")
            self._connections.audit_entries.about(about_client(program.id))

    def remove_program(self, program_id: str) -> None:
        """See ``Store``. The program is locked first, so that no grants are added concurrently."""
        key = (program_id,)
        with self._connections.writing() as link:
            if not link.rows("SELECT 1 FROM programs WHERE id = %s FOR UPDATE", key):
                raise NotFound(f"there is no program with the id {program_id}")
            delete_grants(link, "program_id = %s", key)
            for table in ("authorization_codes", "device_requests"):
                link.execute(
                    f"DELETE FROM {table} WHERE digest IN (SELECT digest FROM {table}"
                    " WHERE program_id = %s ORDER BY digest FOR UPDATE)",
                    key,
                )
            link.execute("DELETE FROM programs WHERE id = %s", key)
