"""The order of waiting work: its owners take turns, so that nobody waits for all work of another.

Owners form a rotation. The first one gets the next turn, for the work that it has waited with for
longest, and goes to the end if more of its work waits. New owners begin at the end, too: if they
came first, a stream of them would leave no turns for the others.

Several owners may wait for the same work. It is done at the first turn that any of them gets, and
the others keep their places.
"""

from collections.abc import Hashable
from typing import Generic, TypeVar

W = TypeVar("W", bound=Hashable)


class Turns(Generic[W]):
    """Waiting work, by owner. Not thread-safe."""

    def __init__(self) -> None:
        # Dictionaries, because they are sets in the order of insertion.
        self._rotation: dict[Hashable, dict[W, None]] = {}
        self._waiting: dict[W, dict[Hashable, None]] = {}

    def __len__(self) -> int:
        """Return how many different works wait."""
        return len(self._waiting)

    def add(self, owner: Hashable, work: W) -> None:
        """Let an owner wait for work, for which others may already wait."""
        self._rotation.setdefault(owner, {})[work] = None
        self._waiting.setdefault(work, {})[owner] = None

    def remove(self, owner: Hashable, work: W) -> None:
        """Let an owner no longer wait for this work."""
        self._leave(owner, work)
        owners = self._waiting[work]
        del owners[owner]
        if not owners:
            del self._waiting[work]

    def take(self) -> W:
        """Remove and return the work whose turn it is; there must be some."""
        owner, own = next(iter(self._rotation.items()))
        work = next(iter(own))
        for one in self._waiting.pop(work):
            self._leave(one, work)
        if own:
            self._rotation[owner] = self._rotation.pop(owner)
        return work

    def displaced_by(self, owner: Hashable) -> W | None:
        """Return the work that should give its place to new work of ``owner``, if there is any.

        It is the newest of the owner with the most, if that is more than ``owner`` would then have.
        Work of several owners counts like that of the one with the least.
        """
        enough = len(self._rotation.get(owner, ())) + 1
        most = max(map(len, self._rotation.values()), default=0)
        found = None
        if most > enough:  # usually it is not, and refusing must be cheap
            for work in reversed(self._waiting):
                least = min(len(self._rotation[one]) for one in self._waiting[work])
                if least > enough:
                    found, enough = work, least
                if least == most:
                    break
        return found

    def _leave(self, owner: Hashable, work: W) -> None:
        own = self._rotation[owner]
        del own[work]
        if not own:
            del self._rotation[owner]
