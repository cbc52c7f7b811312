"""What the operator says about the maps of an import: owner, category, and visibility.

This is a separate module so that commands can use it without loading the map readers.
"""

from dataclasses import dataclass

from mapshelf.model import SYSTEM_USER, Visibility
from mapshelf.store.contract import Imports


@dataclass(frozen=True, slots=True)
class Attribution:
    """What the operator says about the maps of an import; ``None`` means nothing.

    Attributes:
        owner: owner of all maps.
        category: category of all maps.
        visibility: visibility of new maps. Those that are known keep theirs.
    """

    owner: str | None = None
    category: str | None = None
    visibility: Visibility | None = None

    @property
    def changes_known_maps(self) -> bool:
        """Whether it says anything about maps that are known already."""
        return self.owner is not None or self.category is not None


def notice_of_owner(store: Imports, attribution: Attribution) -> str:
    """Return what the operator must know about the owner, as one line; empty if nothing.

    Raises:
        StoreError: the store failed.
    """
    owner = attribution.owner
    if owner is None or not store.is_reserved(owner):
        return ""
    return (
        f"--owner {owner}: this user has deleted the account, so the maps belong to {SYSTEM_USER};"
        f" to give the name to somebody, run: mapshelf user add {owner}"
    )
