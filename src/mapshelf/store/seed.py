"""The rows that every new catalogue starts with, in both databases.

Ids are part of the interface (``category=`` and ``software=`` accept them): never renumber a row;
add new rows at the end.
"""

from typing import Final

from mapshelf.model import UNCATEGORISED, Named

CATEGORIES: Final = (
    Named(1, UNCATEGORISED),
    Named(2, "Arts and Culture"),
    Named(3, "Books and Literature"),
    Named(4, "Business"),
    Named(5, "Computers and Software"),
    Named(6, "Education"),
    Named(7, "Family and Home"),
    Named(8, "Finance"),
    Named(9, "Food and Drink"),
    Named(10, "Games"),
    Named(11, "Health"),
    Named(12, "History"),
    Named(13, "Languages"),
    Named(14, "Law and Government"),
    Named(15, "Management"),
    Named(16, "Marketing"),
    Named(17, "Mathematics"),
    Named(18, "Personal Development"),
    Named(19, "Philosophy and Religion"),
    Named(20, "Projects and Planning"),
    Named(21, "Science"),
    Named(22, "Society"),
    Named(23, "Sports and Leisure"),
    Named(24, "Technology and Engineering"),
    Named(25, "Travel and Places"),
)

SOFTWARE: Final = (
    Named(1, "FreeMind"),
    Named(2, "Freeplane"),
    Named(3, "XMind"),
    Named(4, "MindManager"),
    Named(5, "SimpleMind"),
    Named(6, "iThoughts"),
    Named(7, "MindNode"),
    Named(8, "MindMup"),
    Named(9, "KityMinder"),
    Named(10, "WiseMapping"),
    Named(11, "VYM"),
    Named(12, "MindMeister"),
    Named(13, "Mindomo"),
    Named(14, "iMindMap"),
    Named(15, "EdrawMind"),
    Named(16, "Markmap"),
    Named(17, "PlantUML"),
    Named(18, "Mermaid"),
    Named(19, "OPML outliner"),
    Named(20, "NovaMind"),
)

LICENCE_TYPES: Final = (
    Named(1, "All rights reserved"),
    Named(2, "Public domain or CC0"),
    Named(3, "CC BY"),
    Named(4, "CC BY-SA"),
    Named(5, "CC BY-ND"),
    Named(6, "CC BY-NC"),
    Named(7, "CC BY-NC-SA"),
    Named(8, "CC BY-NC-ND"),
    Named(9, "GNU FDL"),
    Named(10, "Other open licence"),
)
