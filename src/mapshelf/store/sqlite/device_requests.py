"""Authorization requests of devices without a browser (RFC 8628), in SQLite."""

from mapshelf.errors import AlreadyExists, NotFound
from mapshelf.model import DeviceRequest, Grant, NewTokens
from mapshelf.store.oauth import (
    DEVICE,
    MOST_DEVICES,
    device_of_row,
    refuse_disabled,
    row_of_device,
)
from mapshelf.store.sqlite.database import DatabaseUser
from mapshelf.store.sqlite.grants import new_grant, require_program
from mapshelf.store.sqlite.user_rows import user_with_id


class SQLiteDeviceRequests(DatabaseUser):
    """See ``contract.DeviceRequests``."""

    def add_device_request(self, request: DeviceRequest, now: int) -> None:
        """See ``Store``."""
        with self._database.writing() as database:
            require_program(database, request.program_id)
            database.execute(
                "DELETE FROM device_requests WHERE expires <= ? OR digest IN"
                " (SELECT digest FROM device_requests ORDER BY expires DESC, digest"
                " LIMIT -1 OFFSET ?)",
                (now, MOST_DEVICES - 1),
            )
            database.execute(
                f"INSERT INTO device_requests ({DEVICE}) VALUES (?, ?, ?, ?, ?, ?, ?)"
                " ON CONFLICT DO NOTHING",
                row_of_device(request),
            )
            if not database.changes():
                raise AlreadyExists("another device has this user code")

    def decide_device_request(self, user_code: str, user_id: int, now: int, *, allow: bool) -> None:
        """See ``Store``."""
        with self._database.writing() as database:
            refuse_disabled(user_with_id(database, user_id))
            database.execute(
                "UPDATE device_requests SET user_id = ?, denied = ?"
                " WHERE user_code = ? AND expires > ? AND user_id IS NULL AND NOT denied",
                (user_id if allow else None, not allow, user_code, now),
            )
            if not database.changes():
                raise NotFound("no device is waiting with this code")

    def poll_device_request(
        self, digest: bytes, now: int, interval: int
    ) -> tuple[DeviceRequest, bool] | None:
        """See ``Store``."""
        with self._database.writing() as database:
            row = database.execute(
                f"SELECT polled, {DEVICE} FROM device_requests WHERE digest = ?", (digest,)
            ).fetchone()
            if row is None:
                return None
            database.execute(
                "UPDATE device_requests SET polled = ? WHERE digest = ?", (now, digest)
            )
            return device_of_row(row[1:]), row[0] is not None and row[0] + interval > now

    def use_device_request(self, digest: bytes, tokens: NewTokens, now: int) -> Grant | None:
        """See ``Store``."""
        with self._database.writing() as database:
            row = database.execute(
                f"SELECT {DEVICE} FROM device_requests"
                " WHERE digest = ? AND expires > ? AND user_id IS NOT NULL",
                (digest, now),
            ).fetchone()
            if row is None:
                return None
            request = device_of_row(row)
            assert request.user_id is not None
            if user_with_id(database, request.user_id).disabled:
                return None
            database.execute("DELETE FROM device_requests WHERE digest = ?", (digest,))
            return new_grant(
                database,
                request.user_id,
                request.program_id,
                request.scopes,
                tokens=tokens,
                now=self._clock(),
            )
