"""The order of waiting work: its owners take turns, so that nobody waits for all work of another.

Owners form a rotation. The first one gets the next turn, for the work that it has waited with for
longest. If more of its work waits, it goes to the end when the turn after that is given: so whoever
comes during a turn waits for no second one of the same owner. New owners begin at the end, too: if
they came first, a stream of them would leave no turns for the others.

Turns are of different lengths, so they would not be a fair share of the time: one owner could
request work of half a second each, and others would wait that long for each of theirs. So whoever
had a long turn misses one for each ``SHORT`` seconds of it, like in deficit round robin (Shreedhar
and Varghese, 1995), while others wait.

Several owners may wait for the same work. It is done at the first turn that any of them gets, and
the others keep their places.
"""

from collections import Counter
from collections.abc import Container, Hashable
from time import monotonic
from typing import Final, Generic, TypeVar

W = TypeVar("W", bound=Hashable)

SHORT: Final = 0.05
"""Seconds of a turn. Most work takes less."""

MOST_MISSED: Final = 20
"""Maximum number of turns that an owner misses: work that takes over a second is usually done in
queues of its own (``feedback_queue.py``), and nobody should miss turns for ever."""

FORGOTTEN_AFTER: Final = 5.0
"""Seconds after which a long turn no longer counts."""


class Turns(Generic[W]):
    """Waiting work, by owner. Not thread-safe.

    Attributes:
        last: who had the last turn.
    """

    def __init__(self) -> None:
        # Dictionaries, because they are sets in the order of insertion.
        self._rotation: dict[Hashable, dict[W, None]] = {}
        self._waiting: dict[W, dict[Hashable, None]] = {}
        self.last: Hashable = None
        # How many turns owners are to miss, and when they had the long one: the oldest first.
        self._missed: dict[Hashable, tuple[int, float]] = {}
        # How many owners wait for a number of works, and the largest such number.
        self._owners_with: Counter[int] = Counter()
        self._most = 0

    def __len__(self) -> int:
        """Return how many different works wait."""
        return len(self._waiting)

    def __contains__(self, work: W) -> bool:
        """Return whether somebody waits for this work."""
        return work in self._waiting

    def add(self, owner: Hashable, work: W) -> None:
        """Let an owner wait for work that it does not wait for yet, but others may."""
        own = self._rotation.setdefault(owner, {})
        own[work] = None
        self._note_size(len(own) - 1, len(own))
        self._waiting.setdefault(work, {})[owner] = None

    def remove(self, owner: Hashable, work: W) -> None:
        """Let an owner no longer wait for this work."""
        self._leave(owner, work)
        owners = self._waiting[work]
        del owners[owner]
        if not owners:
            del self._waiting[work]

    def take(self, busy: Container[Hashable] = ()) -> W | None:
        """Remove and return the work whose turn it is, ``None`` if only ``busy`` owners wait."""
        if self.last in self._rotation:
            self._rotation[self.last] = self._rotation.pop(self.last)
        if self._missed and self._rotation:
            self._rotate()
        for owner in self._rotation:
            if owner not in busy:
                break
        else:
            return None
        work = next(iter(self._rotation[owner]))
        for one in self._waiting.pop(work):
            self._leave(one, work)
        self.last = owner
        return work

    def note_turn(self, owner: Hashable) -> None:
        """Note that work of an owner has begun that did not have to wait."""
        self.last = owner

    def note_length(self, owner: Hashable, seconds: float) -> None:
        """Note how long the turn of an owner was."""
        if seconds < SHORT:
            return
        now, before = monotonic(), self._missed.pop(owner, (0, 0.0))[0]
        self._missed[owner] = min(MOST_MISSED, before + int(seconds / SHORT)), now
        self._forget(now)

    def displaced_by(self, owner: Hashable) -> W | None:
        """Return the work that should give its place to new work of ``owner``, if there is any.

        It is the newest of the owner with the most, if that is more than ``owner`` would then have.
        Work of several owners counts like that of the one with the least.
        """
        enough = len(self._rotation.get(owner, ())) + 1
        found = None
        if self._most > enough:  # usually it is not, and refusing must be cheap
            for work in reversed(self._waiting):
                least = min(len(self._rotation[one]) for one in self._waiting[work])
                if least > enough:
                    found, enough = work, least
                if least == self._most:
                    break
        return found

    def _rotate(self) -> None:
        """Bring whoever has no turn to miss to the front; the others before it miss one."""
        self._forget(monotonic())
        fewest = min(self._missed.get(owner, (0, 0.0))[0] for owner in self._rotation)
        for owner in list(self._rotation):
            self._miss(owner, fewest)
        for owner in list(self._rotation):
            if owner not in self._missed:
                break
            self._miss(owner, 1)
            self._rotation[owner] = self._rotation.pop(owner)

    def _forget(self, now: float) -> None:
        for owner, (_, when) in list(self._missed.items()):
            if now - when < FORGOTTEN_AFTER:
                break
            del self._missed[owner]

    def _miss(self, owner: Hashable, turns: int) -> None:
        if owner in self._missed:
            left, when = self._missed[owner]
            if left > turns:
                self._missed[owner] = left - turns, when
            else:
                del self._missed[owner]

    def _leave(self, owner: Hashable, work: W) -> None:
        own = self._rotation[owner]
        del own[work]
        self._note_size(len(own) + 1, len(own))
        if not own:
            del self._rotation[owner]

    def _note_size(self, before: int, now: int) -> None:
        self._owners_with[before] -= 1
        self._owners_with[now] += 1
        self._most = max(self._most, now)
        if not self._owners_with[self._most]:
            self._most -= 1
