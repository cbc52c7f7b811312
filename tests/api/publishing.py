"""Helpers for tests of publishing: users, and the requests that they send."""

from typing import Any, Final

import httpx

from mapshelf.model import Role
from mapshelf.tokens import SCOPES
from tests.harness import Service, Shelf

OWNER: Final = "ann"
OTHER: Final = "bob"
ADMINISTRATOR: Final = "root"


def plan(*topics: str) -> bytes:
    """Return a FreeMind file with these topics below the central one."""
    nodes = "".join(f'<node TEXT="{topic}"/>' for topic in topics)
    return f'<map version="1.0.1"><node TEXT="Plan">{nodes}</node></map>'.encode()


class People:
    """Three users whose tokens have all scopes, and a service to send requests to."""

    def __init__(self, shelf: Shelf, service: Service) -> None:
        self.shelf = shelf
        self.service = service
        self.tokens = {"": ""}
        known = {user.name for user in shelf.store.users()}
        for name in (OWNER, OTHER, ADMINISTRATOR):
            if name not in known:
                shelf.store.add_user(name)
            self.tokens[name] = shelf.token(name, scopes=" ".join(SCOPES))
        shelf.store.set_role(ADMINISTRATOR, Role.ADMINISTRATOR)

    def send(self, name: str, method: str, path: str, **parts: Any) -> httpx.Response:
        """Send a request as a user, or without a token if the name is empty."""
        headers = {**dict(parts.pop("headers", {}))}
        if name:
            headers["Authorization"] = f"Bearer {self.tokens[name]}"
        asking = self.service.client.request(method, path, headers=headers, **parts)
        return self.service.run(asking)

    def upload(
        self,
        name: str,
        content: bytes,
        *,
        key: str = "",
        file_name: str = "plan.mm",
        **fields: str,
    ) -> httpx.Response:
        """Publish a file."""
        headers = {"Idempotency-Key": key} if key else {}
        files = {"map": (file_name, content)}
        return self.send(name, "POST", "/maps", headers=headers, data=fields, files=files)

    def published(self, name: str, content: bytes = b"", **fields: str) -> str:
        """Publish a file, and return the ID of its map."""
        answer = self.upload(name, content or plan("a", *fields.values()), **fields)
        assert answer.status_code == 201, answer.text
        return str(answer.json()["ID"])

    def get(self, name: str, path: str) -> httpx.Response:
        """Send a ``GET`` request."""
        return self.send(name, "GET", path)

    def edit(self, name: str, public_id: str, **values: object) -> httpx.Response:
        """Change details of a map."""
        return self.send(name, "PATCH", f"/maps/{public_id}", json=values)

    def vote(self, name: str, public_id: str, vote: object) -> httpx.Response:
        """Vote for a map."""
        return self.send(name, "PUT", f"/maps/{public_id}/vote", json={"vote": vote})
