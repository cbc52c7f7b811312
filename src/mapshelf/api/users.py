"""``GET /users/me``: the profile of the token's owner (``docs/api.md``)."""

from datetime import UTC, datetime

import orjson

from mapshelf.api.context import Context
from mapshelf.api.http import NO_STORE, Request, Response, json_response
from mapshelf.model import User
from mapshelf.snapshot.read import Snapshot


async def show_profile(context: Context, request: Request) -> Response:
    """Return the User object of the token's owner; it must not be cached."""
    user, current = request.user, context.snapshot.get()
    assert user is not None
    response = _profile(user, current.snapshot)
    if not request.query_string:
        current.cache_for(user, (request.path, b""), response)
    return response


def _profile(user: User, snapshot: Snapshot) -> Response:
    registered = datetime.fromtimestamp(user.registered / 1000, UTC)
    profile = {
        "UserName": user.name,
        "TotalMaps": str(snapshot.maps_of(user.name)),
        "DateRegistered": f"{registered:%Y-%m-%d}",
    }
    return json_response(200, orjson.dumps(profile), NO_STORE)
