"""Authorization requests of devices without a browser (RFC 8628), in PostgreSQL."""

from mapshelf.errors import AlreadyExists, NotFound
from mapshelf.model import DeviceRequest, Grant, NewTokens
from mapshelf.store.oauth import (
    DEVICE,
    MOST_DEVICES,
    device_of_row,
    refuse_disabled,
    row_of_device,
)
from mapshelf.store.postgres.database import DatabaseUser
from mapshelf.store.postgres.grants import new_grant, require_program
from mapshelf.store.postgres.user_rows import CHANGING, user_with_id


class PostgresDeviceRequests(DatabaseUser):
    """See ``contract.DeviceRequests``."""

    def add_device_request(self, request: DeviceRequest, now: int) -> None:
        """See ``Store``."""
        with self._connections.writing() as link:
            require_program(link, request.program_id)
            added = link.execute(
                f"INSERT INTO device_requests ({DEVICE}) VALUES (%s, %s, %s, %s, %s, %s, %s)"
                " ON CONFLICT DO NOTHING",
                row_of_device(request),
            )
            if not added.rowcount:
                raise AlreadyExists("another device has this user code")
            link.execute(
                "DELETE FROM device_requests WHERE digest IN (SELECT digest FROM device_requests"
                " WHERE expires <= %s OR digest IN (SELECT digest FROM device_requests"
                " ORDER BY expires DESC, digest OFFSET %s) FOR UPDATE SKIP LOCKED)",
                (now, MOST_DEVICES),
            )

    def decide_device_request(self, user_code: str, user_id: int, now: int, *, allow: bool) -> None:
        """See ``Store``."""
        with self._connections.writing() as link:
            refuse_disabled(user_with_id(link, user_id, CHANGING))
            decided = link.execute(
                "UPDATE device_requests SET user_id = %s, denied = %s"
                " WHERE user_code = %s AND expires > %s AND user_id IS NULL AND NOT denied",
                (user_id if allow else None, not allow, user_code, now),
            )
            if not decided.rowcount:
                raise NotFound("no device is waiting with this code")

    def poll_device_request(
        self, digest: bytes, now: int, interval: int
    ) -> tuple[DeviceRequest, bool] | None:
        """See ``Store``."""
        with self._connections.writing() as link:
            rows = link.rows(
                f"SELECT polled, {DEVICE} FROM device_requests WHERE digest = %s FOR NO KEY UPDATE",
                (digest,),
            )
            if not rows:
                return None
            link.execute("UPDATE device_requests SET polled = %s WHERE digest = %s", (now, digest))
            polled = rows[0][0]
            return device_of_row(rows[0][1:]), polled is not None and polled + interval > now

    def use_device_request(self, digest: bytes, tokens: NewTokens, now: int) -> Grant | None:
        """See ``Store``."""
        query = (
            f"SELECT {DEVICE} FROM device_requests"
            " WHERE digest = %s AND expires > %s AND user_id IS NOT NULL"
        )
        with self._connections.writing() as link:
            found = link.rows(query, (digest, now))
            if not found:
                return None
            request = device_of_row(found[0])
            assert request.user_id is not None
            user = user_with_id(link, request.user_id, CHANGING)
            if user.disabled or not link.rows(query, (digest, now)):
                return None
            grant = new_grant(
                link, user.id, request.program_id, request.scopes, tokens=tokens, now=self._clock()
            )
            if grant is not None:
                link.execute("DELETE FROM device_requests WHERE digest = %s", (digest,))
            return grant
