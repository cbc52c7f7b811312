"""Read the elements outside the tree of a Freeplane map: free topics, and braces with summaries.

In the file, all of these are ordinary nodes with a hook. FreeMind has none of them.

* A node with the hook ``FreeNode`` was positioned by the author. Below the central topic it is a
  floating topic; below other topics it is drawn near its parent, without a line: a callout.
* ``SummaryNode`` is a brace over the preceding siblings, back to the one with ``FirstGroupNode`` or
  to the previous summary. A summary directly after another one is a brace over summaries.
* Newer versions of Freeplane write braces as nodes without text: one only begins the group, another
  ends it and contains the summary topics. A single such topic is used as the summary.
"""

from collections.abc import Iterable
from typing import Final
from xml.etree.ElementTree import Element

from mapshelf.readers.parsing.content import Content

_FREE: Final = "FreeNode"
_FIRST: Final = "FirstGroupNode"
_SUMMARY: Final = "SummaryNode"
_BARE: Final = frozenset({"node", "hook", "edge", "font"})
"""Elements that may be in a brace without content of its own."""

_SILENT: Final = frozenset({_FREE, _FIRST, _SUMMARY, "AlwaysUnfoldedNode"})
"""Hooks that may be in it."""


class Groups:
    """The floating topics, callouts and summaries of a map.

    Attributes:
        floating: the nodes of floating topics.
        callouts: the nodes of callouts, each with its parent and whether it is on the left.
        summaries: the nodes in each summary, and the node of the summary itself.
    """

    def __init__(self, centres: Iterable[Element], content: Content) -> None:
        self.floating: list[Element] = []
        self.callouts: dict[Element, tuple[Element, bool]] = {}
        self.summaries: list[tuple[list[Element], Element]] = []
        self._absent: set[Element] = set()
        self._stands_for: dict[Element, Element] = {}
        text = content.text
        if any(f'"{hook}"' in text for hook in (_FREE, _FIRST, _SUMMARY)):
            self._find(list(centres))

    def children(self, node: Element) -> list[Element]:
        """Return the children of ``node`` that are branches or callouts."""
        children = node.findall("node")
        if self._absent:
            children = [child for child in children if child not in self._absent]
        return children

    def shown(self, node: Element) -> Element:
        """Return the node whose topic represents ``node``: another one for some summaries."""
        return self._stands_for.get(node, node)

    def _find(self, centres: list[Element]) -> None:
        central = set(centres)
        pending = [(centre, False) for centre in reversed(centres)]
        while pending:
            parent, left = pending.pop()
            children = [(child, _hooks(child)) for child in parent.findall("node")]
            for child, _ in reversed(children):
                pending.append((child, _is_left(child) if parent in central else left))
            for child, names in children:
                if _FREE in names and parent in central:
                    self.floating.append(child)
                    self._absent.add(child)
                elif _FREE in names:
                    self.callouts[child] = (parent, left)
            if any(_FIRST in names or _SUMMARY in names for _, names in children):
                for left in (False, True):
                    self._group(
                        (child, names)
                        for child, names in children
                        if child not in self._absent and _is_left(child) == left
                    )

    def _group(self, siblings: Iterable[tuple[Element, set[str]]]) -> None:
        # The algorithm of Freeplane (SummaryLevels): an item has level 0, a summary one more than
        # the sibling before it. A summary without an item before it is itself an item.
        groups: list[list[Element]] = [[]]
        level = 0
        after_item = False
        for node, names in siblings:
            if _SUMMARY in names and after_item:
                level += 1
                self._summarize(groups[level - 1], node)
                groups[level - 1] = []
                if level == len(groups):
                    groups.append([])
            else:
                after_item = after_item and level == 0
                level = 0
            if _FIRST in names:
                groups[level] = []
            if level == 0 and _FIRST in names and _is_empty(node):
                self._absent.add(node)
            elif level > 0 or node not in self._absent:
                groups[level].append(node)
                after_item = True

    def _summarize(self, group: list[Element], brace: Element) -> None:
        self._absent.add(brace)
        self.callouts.pop(brace, None)
        inside = brace.findall("node")
        alone = len(inside) == 1 and not _hooks(inside[0])
        if alone and _says_nothing(brace) and brace.get("FOLDED") != "true":
            self._stands_for[brace] = inside[0]
        self.summaries.append((group, brace))


def is_brace(node: Element) -> bool:
    """Return whether ``node`` is the end of a brace, which contains summary topics."""
    return _SUMMARY in _hooks(node)


def _is_left(node: Element) -> bool:
    return node.get("POSITION", "").endswith("left")


def _hooks(node: Element) -> set[str]:
    names = {hook.get("NAME", "") for hook in node.findall("hook")}
    return names & {_FREE, _FIRST, _SUMMARY}


def _is_empty(node: Element) -> bool:
    return _says_nothing(node) and node.find("node") is None


def _says_nothing(node: Element) -> bool:
    return node.get("TEXT") == "" and all(
        part.tag in _BARE and (part.tag != "hook" or part.get("NAME") in _SILENT) for part in node
    )
