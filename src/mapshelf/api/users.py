"""``GET /users/me``: the profile of the token's owner (``docs/api.md``)."""

from datetime import UTC, datetime

import orjson

from mapshelf.api.context import Context
from mapshelf.api.http import Request, Response, json_response


async def show_profile(context: Context, request: Request) -> Response:
    """Return the User object of the token's owner; it must not be cached."""
    user = request.user
    assert user is not None
    registered = datetime.fromtimestamp(user.registered / 1000, UTC)
    profile = {
        "UserName": user.name,
        "TotalMaps": str(context.snapshot.get().snapshot.maps_of(user.name)),
        "DateRegistered": f"{registered:%Y-%m-%d}",
    }
    return json_response(200, orjson.dumps(profile), [(b"cache-control", b"no-store")])
