"""What the operator says about the maps of an import: owner, category, and visibility.

This is a separate module so that commands can use it without loading the map readers.
"""

from dataclasses import dataclass

from mapshelf.model import Visibility


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
