"""Read the attributes of topics, and which of them FreeMind and Freeplane show below the text.

The registry of a map says whether all attributes are shown, which is the default, or none, or only
those with certain names.
"""

from xml.etree.ElementTree import Element

from mapshelf.model import Topic


class ShownAttributes:
    """Which attributes of a map are shown in its topics."""

    def __init__(self, document: Element) -> None:
        registry = document.find("attribute_registry")
        setting = registry.get("SHOW_ATTRIBUTES", "") if registry is not None else ""
        self._none = setting == "hide"
        self._selected: set[str] | None = None
        if registry is not None and setting == "selected":
            names = registry.iterfind("attribute_name")
            self._selected = {name.get("NAME", "") for name in names if name.get("VISIBLE")}

    def of(self, topic: Topic) -> tuple[str, ...]:
        """Return the names of the attributes that are shown in a topic."""
        if self._none:
            return ()
        selected = self._selected
        names = (name for name, _ in topic.attributes if selected is None or name in selected)
        return tuple(names)


def attribute_of(element: Element) -> tuple[str, str]:
    """Return the name and the value of an attribute."""
    value = element.get("VALUE")
    if value is None:  # the type in Java, the value, and sometimes a format
        value = element.get("OBJECT", "").partition("|")[2].partition("|")[0]
    return element.get("NAME", ""), value
