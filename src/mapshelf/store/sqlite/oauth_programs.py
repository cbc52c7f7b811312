"""Registered programs in SQLite."""

from mapshelf.errors import AlreadyExists, NotFound, TooManyPrograms
from mapshelf.model import Program, about_client
from mapshelf.store.oauth import DYNAMIC, PROGRAM, row_of_program
from mapshelf.store.sqlite.database import DatabaseUser
from mapshelf.store.sqlite.grants import delete_grants
from mapshelf.store.tables import Row


class SQLitePrograms(DatabaseUser):
    """See ``contract.RegisteredPrograms``."""

    def add_program(self, program: Program, most: int | None = None) -> None:
        """See ``Store``."""
        with self._database.writing() as database:
            if most is not None:
                rows: list[Row] = database.execute(DYNAMIC).fetchall()
                if rows[0][0] >= most:
                    raise TooManyPrograms(f"{most} programs have registered themselves")
            database.execute(
                f"INSERT INTO programs ({PROGRAM}) VALUES (?, ?, ?, ?, ?, ?)"
                " ON CONFLICT DO NOTHING",
                row_of_program(program),
            )
            if not database.changes():
                raise AlreadyExists(f"there is a program with the id {program.id} already")
            self._database.audit_entries.about(about_client(program.id))

    def remove_program(self, program_id: str) -> None:
        """See ``Store``."""
        with self._database.writing() as database:
            delete_grants(database, "program_id = ?", (program_id,))
            for table in ("authorization_codes", "device_requests"):
                database.execute(f"DELETE FROM {table} WHERE program_id = ?", (program_id,))
            database.execute("DELETE FROM programs WHERE id = ?", (program_id,))
            if not database.changes():
                raise NotFound(f"there is no program with the id {program_id}")
