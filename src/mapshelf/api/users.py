"""``GET /users/me``: the profile of the token's owner (``docs/api.md``)."""

from datetime import UTC, datetime

import orjson

from mapshelf.api.catalogue import Edition
from mapshelf.api.http import Response, json_response
from mapshelf.model import User


def own_profile(edition: Edition, user: User) -> Response:
    """Return the User object of ``user``; nobody may keep a copy of it."""
    registered = datetime.fromtimestamp(user.registered / 1000, UTC)
    profile = {
        "UserName": user.name,
        "TotalMaps": str(edition.snapshot.maps_of(user.name)),
        "DateRegistered": f"{registered:%Y-%m-%d}",
    }
    return json_response(200, orjson.dumps(profile), [(b"cache-control", b"no-store")])
