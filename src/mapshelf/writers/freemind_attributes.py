"""Choose the attributes of a node: the author's, and facts that FreeMind has no other place for."""

from collections.abc import Iterator
from typing import Final

from mapshelf.model import Task, Topic
from mapshelf.writers.facts import task_facts
from mapshelf.writers.plain import one_line, safe_links

TASKS: Final = {"todo": "unchecked", "done": "checked"}
"""The icons for states of a task."""

ROUND: Final = (0, 25, 50, 75, 100)
"""The percentages for which Freeplane has icons."""


def attributes_of(topic: Topic) -> list[tuple[str, str]]:
    """Return the names and values of the attributes to write for a topic."""
    facts = [*topic.attributes, *_task(topic.task)]
    facts += (("file", file.name) for file in topic.attachments)
    facts += (("link", one_line(link)) for link in safe_links(topic.links)[1:])
    return facts


def _task(task: Task | None) -> Iterator[tuple[str, str]]:
    """Yield the task properties that no icon expresses."""
    for name, value in task_facts(task):
        said = task and {
            "state": task.state in TASKS,
            "priority": True,
            "progress": task.progress in ROUND,
        }
        if not (said and said.get(name)):
            yield name, value
