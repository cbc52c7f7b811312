"""The change feed: an ordered log of changes to maps, from which snapshots are built."""

from pathlib import Path
from typing import Final, Protocol

from mapshelf.model import Change

MOST_BYTES: Final = 32 << 20
"""Maximum size of the outlines that ``changes`` returns at once, encoded and in bytes. A thousand
outlines of real maps have a few megabytes."""


class ChangeFeed(Protocol):
    """Every change to a map, in order, each map once at its latest change.

    Attributes:
        last_withdrawal_age: seconds for which a result of ``last_withdrawal`` may be cached.
    """

    last_withdrawal_age: float

    @property
    def written_file(self) -> Path | None:
        """The file that is touched after each transaction, ``None`` if the store has none."""

    def written_stamp(self) -> object:
        """Return what differs after each transaction, ``None`` if the store has no such file.

        It differs even if the process was killed before it touched ``written_file``. It is cheap.
        """

    def identity(self) -> str:
        """Return the id of this catalogue, a random one chosen when the store is created."""

    def lineage(self, revision: int) -> str:
        """Return a mark that distinguishes this catalogue, as of a revision, from diverged copies.

        A copy that was changed independently has the same identity and may have the same
        revisions, but a different lineage from then on. A revision that the catalogue has not
        reached, or that is more than 100,000 revisions old, has the lineage of revision 0.
        """

    def revision(self) -> int:
        """Return the revision of the newest change, 0 for a new store.

        MUST be cheap: callers poll it several times a second.
        """

    def changes(self, after: int, limit: int, most_bytes: int = MOST_BYTES) -> list[Change]:
        """Return up to ``limit`` changes with a revision above ``after``, in ascending order.

        Returns fewer if their outlines would exceed ``most_bytes`` together, but at least one, so
        that callers get on. No change up to the last one returned is left out.

        Each map appears once, at its latest change and in its current state. Deletions are
        included. An unpublished map counts as deleted: consumers of the feed must not show any of
        it. Revisions MUST become visible in order: once a change is visible, no change with a lower
        revision may appear later.

        Raises:
            HistoryLost: visible changes up to ``after`` are lost, because a server without them has
                taken over. A store that can lose changes MUST raise this.
        """

    def wait(self, after: int, seconds: float) -> bool:
        """Wait until there may be a change above revision ``after``; return whether there is.

        Waits at most about ``seconds``. MUST notice a change within five seconds, and MUST NOT
        raise if the store cannot be reached: the caller keeps polling.
        """

    def last_withdrawal(self) -> int:
        """Return the newest revision that withdrew a map from all lists, 0 if there is none.

        Maps are withdrawn when they are deleted, removed or unpublished. MUST be cheap, because
        nodes poll it constantly, and up to date, unless only a replica can be reached.
        """

    def withdrawn(self, after: int, limit: int) -> list[tuple[int, int, str]]:
        """Return revision, ``file_id`` and public id of maps withdrawn after revision ``after``.

        Returns at most ``limit``, in ascending order of revision. MUST be up to date, unless only a
        replica can be reached.
        """

    def map_count(self) -> int:
        """Return the number of published maps."""
