"""``PUT /maps/{ID}/vote``: voting for a map. Each user has one vote per map."""

from functools import partial
from typing import Final

from mapshelf.accounts.permissions import owns
from mapshelf.api.context import Context
from mapshelf.api.http import BodyRule, Request, Response
from mapshelf.api.json_bodies import parse_object
from mapshelf.api.map_writing import map_response, with_map
from mapshelf.errors import Forbidden, InvalidParameter
from mapshelf.model import Map, User, Vote
from mapshelf.store import Store

VOTE: Final = BodyRule(1024, ("application/json",))
"""The body rule of a vote."""

VOTES: Final = {vote.name.lower(): vote for vote in Vote}


async def vote_for_map(context: Context, request: Request) -> Response:
    """Set the vote of a user on a map."""
    async with context.bodies.content(request) as body:
        vote = read_vote(body)
    voting = partial(set_vote, vote)
    found = await with_map(context, request, context.queues.writing, voting, own=False)
    return map_response(found, context.base_url)


def read_vote(body: bytes) -> Vote:
    """Return the vote in a JSON object.

    Raises:
        MalformedRequest: the body is not a JSON object.
        InvalidParameter: it is not a valid vote.
    """
    values = parse_object(body)
    vote = values.get("vote")
    if values.keys() != {"vote"} or not isinstance(vote, str) or vote not in VOTES:
        raise InvalidParameter(f"The body must have a vote, one of {', '.join(VOTES)}.")
    return VOTES[vote]


def set_vote(vote: Vote, store: Store, found: Map, user: User) -> Map:
    """Set the vote of a user on a map, and return the map.

    Raises:
        Forbidden: it is the user's own map.
    """
    if owns(found, user):
        raise Forbidden("vote", "You cannot rate your own map.")
    return store.set_vote(found.file_id, user.id, vote)
