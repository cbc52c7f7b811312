"""The change feed: what a snapshot is built from, and how it learns of changes."""

from typing import Protocol

from mapshelf.model import Change


class ChangeFeed(Protocol):
    """Every change to a map, in order, each map once at its latest change.

    Attributes:
        last_withdrawal_age: for how many seconds an answer of ``last_withdrawal`` may be relied on.
    """

    last_withdrawal_age: float

    def identity(self) -> str:
        """Return the id of this catalogue. It is random and given once, when the store is made."""

    def lineage(self, revision: int) -> str:
        """Return what tells this catalogue, as of a revision, from all others.

        A copy of it that was changed on its own has the same identity and may have the same
        revisions, but another lineage from there on. A revision that the catalogue has not reached,
        or left behind long ago (100,000 revisions), has the lineage of revision 0.
        """

    def revision(self) -> int:
        """Return the revision of the newest change, 0 for a new store.

        MUST be cheap: callers ask several times a second.
        """

    def changes(self, after: int, limit: int) -> list[Change]:
        """Return up to ``limit`` changes with a revision above ``after``, in ascending order.

        Each map appears once, at its latest change and in its present state. Deletions are
        included, and a map that is not published counts as deleted: nothing that follows the feed
        may show any of it. Revisions MUST become visible in order: once a change is visible, no
        change with a lower revision may appear later.

        Raises:
            HistoryLost: the store has lost changes up to ``after`` that were visible, because a
                server without them has taken over. A store that can lose changes MUST raise this.
        """

    def wait(self, after: int, seconds: float) -> bool:
        """Wait until there may be a change with a revision above ``after``; tell whether.

        It takes at most about ``seconds``. MUST NOT miss a change for more than five seconds, and
        MUST NOT raise if the store cannot be reached: the caller keeps asking.
        """

    def last_withdrawal(self) -> int:
        """Return the newest revision of a map that is in no list any longer, 0 if there is none.

        These are the maps that were deleted, removed, or made other than published. MUST be up to
        date and cheap: nodes ask all the time.
        """

    def withdrawn(self, after: int, limit: int) -> list[tuple[int, str]]:
        """Return the revision and the public id of such maps with a revision above ``after``.

        They are up to ``limit``, in ascending order of the revision. MUST be up to date.
        """

    def map_count(self) -> int:
        """Return the number of published maps."""
