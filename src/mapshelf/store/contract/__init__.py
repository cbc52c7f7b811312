"""What every store promises: the one place of truth about maps, users and tokens.

Two databases implement this (SQLite for one machine, PostgreSQL for several); ``tests/store``
holds one suite that both pass. MUST below is meant as in RFC 2119: the layers above rely on it.

All times are milliseconds since 1970-01-01 UTC. Any method may raise ``StoreUnavailable`` (busy,
unreachable, disk full: the call may work later) or ``StoreDamaged``; neither MUST leave a part
of a write behind. A write that returned MUST survive the death of the process, and on sound
hardware the loss of power. A store may be used from several threads at once.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from mapshelf.model import (
    Change,
    Credential,
    Map,
    MapDraft,
    Named,
    OriginalFile,
    Outcome,
    Source,
    Token,
    User,
    Visit,
)
from mapshelf.store.tables import CatalogueCounters, Row, Table


class Store(Protocol):
    """The store of one catalogue. Made by ``open_store``, which also migrates it.

    Attributes:
        tokens_version_age: seconds for which a ``tokens_version`` holds.
    """

    tokens_version_age: float

    def close(self) -> None:
        """Release the database. MUST be callable twice."""

    def identity(self) -> str:
        """Return what tells this store from every other: given once, when it is made."""

    # -- the change feed ------------------------------------------------------------------

    def revision(self) -> int:
        """Return the revision of the newest change, 0 for an untouched store.

        MUST be cheap: it is asked several times a second.
        """

    def changes(self, after: int, limit: int) -> list[Change]:
        """Return up to ``limit`` changes with a revision above ``after``, in ascending order.

        Each map appears once, at its latest change and in its present state, deletions
        included. Revisions MUST become visible in order: once a change is visible, no change
        with a lower revision may appear later.

        Raises:
            HistoryLost: changes up to ``after`` were seen that the store has lost, for another
                server with fewer of them has taken over. A store that could lose some MUST tell.
        """

    def wait(self, after: int, seconds: float) -> bool:
        """Wait until there may be a change with a revision above ``after``; tell whether.

        It takes at most about ``seconds``. MUST NOT miss a change for more than five seconds, and
        MUST NOT raise where the store cannot be reached: whoever follows the feed keeps asking.
        """

    # -- maps -----------------------------------------------------------------------------

    def put_maps(self, drafts: Sequence[MapDraft]) -> list[Outcome]:
        """Add or update maps, all in one transaction; return an outcome for each, in order.

        A draft names its map by ``id``, else by ``source.path``; a map not found is added. A
        draft that contradicts the store (a ``file_id`` that belongs to another map) MUST be
        refused alone. A draft that changes nothing MUST NOT make a change in the feed.

        A source that is known keeps its name. A draft without a title MUST NOT make a new map.
        New maps get the next ``file_id``, above every one ever used, and a random ``id`` of 8
        letters and digits that no map ever had, unless the draft names them. Unknown owners are
        registered, unknown category and software names get the next id. A ``category_id`` is
        kept as it is given, under the name given with it.

        ``content`` is kept under the digest of its source; it MUST be refused without one. With
        the digest that is there already it MUST NOT be written again, whatever its bytes: what
        they unpack to is the same.
        """

    def delete_maps(self, ids: Iterable[str]) -> int:
        """Delete maps by public id; return how many were there. Their ids stay used up."""

    def maps(self, after: int, limit: int) -> list[Map]:
        """Return up to ``limit`` maps with a ``file_id`` above ``after``, in ascending order."""

    def map_count(self) -> int:
        """Return how many maps there are."""

    def outline(self, file_id: int) -> bytes | None:
        """Return the encoded outline of a map, ``None`` if it has none."""

    def content(self, file_id: int) -> OriginalFile | None:
        """Return the file a map was read from, ``None`` if it is not kept."""

    def sources(self, paths: Sequence[bytes]) -> dict[bytes, Source]:
        """Return, by path, the sources known among ``paths``."""

    def sources_below(self, folder: bytes, after: bytes, limit: int) -> list[Source]:
        """Return up to ``limit`` sources below ``folder``, those with a path above ``after``.

        They come in ascending order of their paths' bytes. ``folder`` ends with no slash.
        """

    def sources_of(self, digest: bytes) -> list[Source]:
        """Return the sources with this content, in ascending order of their paths' bytes."""

    def move_source(self, old: bytes, new: Source) -> bool:
        """Note that the file at ``old`` is now ``new``; tell whether ``old`` was known.

        The map stays the same one; it makes a change in the feed, since its source's name is
        searched for. A source that was at ``new.path`` MUST NOT be lost: then nothing is moved.
        """

    def delete_sources(self, paths: Sequence[bytes]) -> int:
        """Delete the maps that were read from these files; return how many there were."""

    # -- the small tables -----------------------------------------------------------------

    def categories(self) -> list[Named]:
        """Return all categories in ascending order of id."""

    def software(self) -> list[Named]:
        """Return all programs in ascending order of id."""

    def licence_types(self) -> list[Named]:
        """Return all licence types in ascending order of id."""

    # -- users and tokens -----------------------------------------------------------------

    def add_user(self, name: str) -> User:
        """Register a user.

        Raises:
            AlreadyExists: the name is taken, in any case (``Bob`` and ``bob`` are one).
        """

    def users(self) -> list[User]:
        """Return all users in ascending order of id."""

    def disable_user(self, name: str) -> User:
        """Disable a user, whose tokens are refused from then on.

        Raises:
            NotFound: no user has this name, in any case.
        """

    def add_token(
        self, user: str, digest: bytes, *, label: str, scopes: str, expires: int | None
    ) -> Token:
        """Keep a token for ``user`` by its digest.

        Raises:
            NotFound: no user has this name, in any case.
        """

    def tokens(self, user: str) -> list[Token]:
        """Return the tokens of a user in ascending order of id.

        Raises:
            NotFound: no user has this name, in any case.
        """

    def revoke_token(self, token_id: int) -> Token:
        """Revoke a token; revoking it again changes nothing.

        Raises:
            NotFound: there is no such token.
        """

    def tokens_version(self) -> str:
        """Return what becomes another whenever a token or its user may have lost some force.

        MUST be that of this moment, whatever copies of the database there are, and one that never
        was before; a store that cannot tell raises ``StoreUnavailable``. What a new token, or the
        use of one, makes of it is left open. MUST be cheap: it is asked all the time.
        """

    def find_credentials(
        self, digests: Sequence[bytes], version: str = ""
    ) -> dict[bytes, Credential]:
        """Return, by digest, the tokens known among ``digests`` with their users, valid or not.

        The answers MUST be true since ``tokens_version`` was ``version``; without one, now. That a
        token is unknown MUST be true now. MUST be cheap for many digests that nobody knows, since
        anybody can make some up.
        """

    def touch_tokens(self, used: Mapping[int, int]) -> None:
        """Record by token id when each was last used; earlier times than known are ignored."""

    # -- visits ---------------------------------------------------------------------------

    def visitor_salt(self, day: int) -> bytes:
        """Return the secret with which visitors of ``day`` are told apart.

        ``day`` counts from 1970-01-01 UTC. The salt is random, made when it is first asked for,
        and MUST be the same for all who ask until ``count_visits`` forgets it.
        """

    def count_visits(self, visits: Sequence[Visit], now: int, most: int) -> int:
        """Count visits, all in one transaction; return how many there was no room for.

        Visits with the same key and hour MUST count once, whoever hands them over and however
        often. Those of maps that are not there do not count, nor do those of hours before the
        last. ``apply_visit_counts`` adds the counts to the maps; until then this MUST NOT make
        a change in the feed.

        Keys of hours before the last and salts of days before that of ``now`` MUST be forgotten.
        ``most`` keys are remembered; visits beyond that do not count. A crash of the database may
        lose keys and salts, but MUST NOT lose counts.
        """

    def apply_visit_counts(self, before: int) -> int:
        """Let maps have what was counted, if any of it was before; return how many maps have.

        Each map MUST make one change in the feed, however many its visits were. A counter that can
        go no further stays where it is.
        """

    # -- moving ---------------------------------------------------------------------------

    def rows(self, table: Table, after: Any, limit: int) -> list[Row]:
        """Return up to ``limit`` rows with a key above ``after``, in ascending order of the key.

        ``None`` comes before every key. Tables and columns are those of ``store.tables``, as they
        are kept, whichever store keeps them: text, bytes, integers (truth values, too) and
        ``None``.
        """

    def rows_of(self, table: Table, file_ids: Sequence[int]) -> list[Row]:
        """Return the rows that belong to these maps, in ascending order of the key."""

    def write_rows(self, rows: Mapping[Table, Sequence[Row]], counters: CatalogueCounters) -> None:
        """Write rows as they are, in one transaction; those with the same key are replaced.

        For a store that nobody else writes to. Maps take their outlines, files and sources with
        them, whether they are replaced or deleted: what belongs to them has to be among ``rows``.
        """

    def catalogue_counters(self) -> CatalogueCounters:
        """Return what counts the rows, and makes this catalogue the one it is."""

    # -- care -----------------------------------------------------------------------------

    def check(self) -> list[str]:
        """Return a line for every fault found in the database, none if it is sound."""
