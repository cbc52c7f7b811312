"""Limits on how often somebody may try something within a day.

The store counts these attempts with the failed sign-ins, under digests, so that the table reveals
no names and addresses. Attempts that a clock counted while it was far ahead do not count: the limit
would last until the clock has come so far, as nothing is counted while it is reached.
"""

from dataclasses import dataclass
from hashlib import sha256

from mapshelf.errors import TooManyAttempts
from mapshelf.store.contract import SignInFailures


@dataclass(frozen=True, slots=True)
class AttemptLimit:
    """The most attempts that count under a key within a day.

    Attributes:
        key: a digest of what is attempted and by whom.
        most: the number of attempts.
        refusal: raised for each further attempt.
    """

    key: bytes
    most: int
    refusal: TooManyAttempts

    def check(self, store: SignInFailures, now: int) -> None:
        """Reject an attempt if the limit is reached; this does not count it.

        Raises:
            TooManyAttempts: the limit is reached.
        """
        self._refuse_beyond(store.attempts(self.key, now))

    def note(self, store: SignInFailures, now: int) -> None:
        """Count an attempt that was not refused."""
        store.note_attempt(self.key, now)

    def count(self, store: SignInFailures, now: int) -> None:
        """Count an attempt, and reject it if the limit was reached before it.

        Raises:
            TooManyAttempts: the limit was reached.
        """
        self._refuse_beyond(store.note_attempt(self.key, now))

    def _refuse_beyond(self, before: int) -> None:
        if before >= self.most:
            raise self.refusal


def attempt_key(action: str, who: str) -> bytes:
    """Return the key of an action, such as "devices of", by an address or a user."""
    return sha256(f"{action} {who}".encode()).digest()
