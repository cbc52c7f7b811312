"""Collects what a topic may have in any number: links, pictures and attached files.

A small file may have hundreds of thousands of these at one topic. Adding each to the tuple of a
``Topic`` copies all before it, which takes seconds; lists take milliseconds.
"""

from mapshelf.model import Attachment, Image, Topic


class Beside:
    """What has been found beside the text of one topic, in the order of the file.

    Attributes:
        links: see ``Topic``.
        images: likewise.
        attachments: likewise.
    """

    def __init__(self) -> None:
        self.links: list[str] = []
        self.images: list[Image] = []
        self.attachments: list[Attachment] = []

    def add_to(self, topic: Topic) -> None:
        """Add it to a topic, after what the topic has already."""
        if self.links:
            topic.links = (*topic.links, *self.links)
        if self.images:
            topic.images = (*topic.images, *self.images)
        if self.attachments:
            topic.attachments = (*topic.attachments, *self.attachments)
