"""Formats that store a drawing rather than a tree: EdrawMind, NovaMind, iMindMap, SimpleMind.

There was no complete real file of iMindMap, and none of SimpleMind with more than words. The rules
for them come from other programs that read these formats.
"""

import re
from typing import Final
from xml.etree.ElementTree import Element, SubElement

from feature_counts.raw_files import RawFile
from feature_counts.rich_text import different, has_words, words_in
from feature_counts.table import Format, RawMap, Rule, each, each_in, number_of_topics

# --- EdrawMind ---------------------------------------------------------------------------------

_PAGE: Final = re.compile(r"page/page(?:-?[0-9]{1,6})?\.xml")
_EDRAW_TOPICS: Final = frozenset(
    {"MainIdea", "MainTopic", "SubTopic", "Floating", "FloatingTopic", "SummaryTopic", "Callout"}
)
_EDRAW_DEFAULT_LABELS: Final = frozenset({"Label", "标签"})
_EDRAW_TASK: Final = (
    "Priority",
    "Progress",
    "Percent",
    "StartDate",
    "FinishDate",
    "EndDate",
    "Resource",
)


def _open_edraw(raw: RawFile) -> RawMap[Element] | None:
    document = Element("pages")
    for name in sorted(filter(_PAGE.fullmatch, raw.members)):
        page = raw.member_root(name)
        if page is not None:
            document.append(page)
    shapes = document.findall("Page/Shape")
    topics = tuple(shape for shape in shapes if shape.get("Type") in _EDRAW_TOPICS)
    return RawMap(raw, document, topics)


def _v(shape: Element, path: str) -> str:
    part = shape.find(path)
    return "" if part is None else part.get("V", "")


def _edraw_shapes(opened: RawMap[Element], kind: str) -> list[Element]:
    return [shape for shape in opened.document.findall("Page/Shape") if shape.get("Type") == kind]


def _edraw_relationships(opened: RawMap[Element]) -> list[Element]:
    ids = {shape.get("ID") for shape in opened.topics} - {None, ""}

    def ends(shape: Element) -> set[str | None]:
        joined = shape.find("ConnectMap")
        return set() if joined is None else {joined.get("From"), joined.get("To")}

    return [
        shape for shape in _edraw_shapes(opened, "RelatConnector") if len(ends(shape) & ids) == 2
    ]


def _edraw_has_label(shape: Element) -> bool:
    text = words_in(shape.find("Text"))
    changed = any(
        "TextChanged" in part.attrib or part.tag == "TextChanged" for part in shape.iter()
    )
    return bool(text) and (changed or text not in _EDRAW_DEFAULT_LABELS)


def _edraw_images(shape: Element) -> int:
    nested = [part for part in shape.iter("Shape") if part.get("Type") == "Image"]
    own = sum(any(data.get("Res") for data in part.iter("Data")) for part in nested)
    note = shape.find("Note")
    return own + (0 if note is None else sum(bool(i.get("Name")) for i in note.iter("Image")))


def _edraw_floating(opened: RawMap[Element]) -> int:
    ids = {shape.get("ID") for shape in opened.topics}
    return sum(
        shape.get("Type", "").startswith("Floating") and _v(shape, "LevelData/Super") not in ids
        for shape in opened.topics
    )


def _edraw_is_task(shape: Element) -> bool:
    task = shape.find("TaskInfo")
    if task is None:
        return False
    values = [task.get(name, _v(task, name)) for name in _EDRAW_TASK]
    return any(value.strip() not in {"", "0", "-1"} for value in values)


def _edraw_is_coloured(shape: Element) -> bool:
    paths = (
        "ShapeFormat/FillFormat/Color",
        "ShapeFormat/LineFormat/LineFill/Color",
        "Text/TextBlock/Color",
    )
    colours = [colour for path in paths for colour in shape.findall(path)]
    return any(colour.get("V") and "ThemeColor" not in colour.attrib for colour in colours)


EDRAWMIND: Final = Format(
    "EdrawMind",
    _open_edraw,
    (
        Rule(
            "topics",
            "Page/Shape of Type MainIdea, MainTopic, SubTopic, Floating, SummaryTopic, Callout;"
            " half of the others are MMConnector lines; of mmpage/*.bin nothing can be told",
            number_of_topics,
        ),
        Rule("notes", "Note with words", each(lambda s: bool(words_in(s.find("Note"))))),
        Rule(
            "markers",
            "MarkData@Name in nested Shapes",
            each(lambda s: sum(bool(m.get("Name")) for m in s.iter("MarkData"))),
        ),
        Rule(
            "links",
            "HyperLink//Address@V",
            each(
                lambda s: different(
                    a.get("V") for link in s.findall(".//HyperLink") for a in link.iter("Address")
                )
            ),
        ),
        Rule(
            "images", "nested Shape Type=Image with Data@Res; Note//Image@Name", each(_edraw_images)
        ),
        Rule(
            "relationships",
            "Shape Type=RelatConnector whose ConnectMap@From and @To are two topics",
            lambda opened: len(_edraw_relationships(opened)),
        ),
        Rule(
            "relationship_labels",
            "its Text, unless it is the default (Label, 标签) without TextChanged",
            lambda opened: sum(map(_edraw_has_label, _edraw_relationships(opened))),
        ),
        Rule("boundaries", "Shape Type=Boundary", lambda o: len(_edraw_shapes(o, "Boundary"))),
        Rule("summaries", "Shape Type=Summary", lambda o: len(_edraw_shapes(o, "Summary"))),
        Rule("floating", "Type=Floating without a topic as LevelData/Super", _edraw_floating),
        Rule("callouts", "Type=Callout", each(lambda s: s.get("Type") == "Callout")),
        Rule("task", "TaskInfo with a value other than 0", each(_edraw_is_task)),
        Rule(
            "folded",
            "Layout/Toggler@V 1, with LevelData/SubLevel (not seen in the corpus at hand)",
            each(lambda s: _v(s, "Layout/Toggler") == "1" and bool(_v(s, "LevelData/SubLevel"))),
        ),
        Rule(
            "colours",
            "Color@V in ShapeFormat (fill, line) or TextBlock without @ThemeColor;"
            " Character@Color is the result, not a choice",
            each(_edraw_is_coloured),
        ),
        Rule("sheets", "pages with topics", lambda o: len(o.document.findall("Page[Shape]"))),
    ),
)

# --- NovaMind ----------------------------------------------------------------------------------

_NOVA_NO_TOPICS: Final = frozenset({"Boundary", "LinkLine"})
_NOVA_IMAGES: Final = (
    *("top-image", "bottom-image", "left-image", "right-image"),
    "adornments/adornment",
)
_NOVA_TASK: Final = ("priority", "percentage-complete", "start-time", "end-time", "duration")


def _open_nova(raw: RawFile) -> RawMap[Element] | None:
    root = raw.member_root("content.xml")
    if root is None or root.tag != "document" or root.find("maps/map/topic-node") is None:
        return None
    said = {topic.get("id", ""): topic for topic in root.findall("topics/topic")}
    nodes = list(root.iter("topic-node"))
    for node in nodes:
        # The text of a topic is stored elsewhere; copy it into the node.
        content = said.get(node.get("topic-ref", ""))
        if content is not None:
            SubElement(node, "said").extend(content)
            node.set("checked-state", content.get("checked-state", ""))
    topics = tuple(node for node in nodes if node.get("type") not in _NOVA_NO_TOPICS)
    return RawMap(raw, root, topics)


def _nova_links(node: Element) -> int:
    links = [*node.findall("said/links/link"), *node.findall("said/rich-text/hyperlink")]
    return different(link.get("url") for link in links)


def _nova_images(opened: RawMap[Element], node: Element) -> int:
    manifest = opened.raw.member_root("manifest.xml")
    resources = [] if manifest is None else manifest.findall("resources/resource")
    urls = {part.get("id"): part.get("fallback-url", part.get("url", "")) for part in resources}
    found = [image for name in _NOVA_IMAGES for image in node.findall(f"said/{name}")]
    names = [urls.get(image.get("resource-ref"), "") for image in found]
    return sum(f"Resources/{name}" in opened.raw.members for name in names)


def _nova_relationships(opened: RawMap[Element]) -> list[Element]:
    ids = {node.get("id") for node in opened.topics} - {None, ""}
    ends = ("start-topic-node-ref", "end-topic-node-ref")
    return [
        line
        for line in opened.document.findall("maps/map/link-lines/topic-node")
        for data in line.findall("link-line-data")
        if len({data.get(end) for end in ends} & ids) == 2
    ]


def _nova_shapes(opened: RawMap[Element]) -> list[Element]:
    """Return the shapes beside a central topic."""
    return opened.document.findall("maps/map/topic-node/sub-topics/topic-node[@type='Shape']")


def _nova_floating(opened: RawMap[Element]) -> int:
    named = sum(node.get("type") == "FloatingTopic" for node in opened.topics)
    return named + len(_nova_shapes(opened))


def _nova_is_task(node: Element) -> bool:
    task = node.find("said/project-task")
    if task is None:
        return False
    facts = any(task.get(name, "") not in {"", "0"} for name in _NOVA_TASK)
    return facts or bool(node.get("checked-state")) or bool(task.findall("assigned-resources/*"))


def _nova_is_coloured(node: Element) -> bool:
    style = node.find("topic-node-view/topic-node-style")
    own = (
        []
        if style is None
        else [*style.findall("fill-style//*[@color]"), *style.findall("line-style[@color]")]
    )
    runs = [run for run in node.findall("said/rich-text//text-run") if words_in(run)]
    inks = {run.get("font-color") for run in runs}
    return bool(own) or (len(inks) == 1 and None not in inks)


NOVAMIND: Final = Format(
    "NovaMind",
    _open_nova,
    (
        Rule(
            "topics",
            "topic-node, but for type Boundary and LinkLine; its content is topics/topic@id",
            number_of_topics,
        ),
        Rule(
            "notes", "topic/notes with words", each(lambda n: bool(words_in(n.find("said/notes"))))
        ),
        Rule("links", "topic/links/link@url, topic/rich-text/hyperlink@url", each(_nova_links)),
        Rule(
            "images",
            "topic/top-image, bottom-, left-, right-image, adornments/adornment@resource-ref by"
            " manifest.xml to Resources/..; an icon (adornment) counts here, for all that the file"
            " has of it is a picture",
            each_in(_nova_images),
        ),
        Rule(
            "attachments",
            "topic/attachments/attachment (from XMind's importer; not seen)",
            each(lambda n: len(n.findall("said/attachments/attachment"))),
        ),
        Rule(
            "relationships",
            "link-lines/topic-node/link-line-data between two topic-nodes",
            lambda opened: len(_nova_relationships(opened)),
        ),
        Rule(
            "relationship_labels",
            "words of the topic of the line's topic-node",
            lambda opened: sum(
                bool(words_in(line.find("said/rich-text"))) for line in _nova_relationships(opened)
            ),
        ),
        Rule(
            "boundaries",
            "topic-node type=Boundary",
            lambda opened: len(opened.document.findall(".//topic-node[@type='Boundary']")),
        ),
        Rule(
            "floating",
            "topic-node type=FloatingTopic (from XMind's importer), or Shape below the centre",
            _nova_floating,
        ),
        Rule(
            "callouts",
            "topic-node type=Callout (from XMind's importer), or Shape further down",
            lambda opened: (
                sum(node.get("type") in {"Callout", "Shape"} for node in opened.topics)
                - len(_nova_shapes(opened))
            ),
        ),
        Rule(
            "task",
            "project-task with priority, percentage, date, duration (not 0) or resources;"
            " topic@checked-state",
            each(_nova_is_task),
        ),
        Rule(
            "folded",
            "topic-node-view@is-expanded False with sub-topics",
            each(
                lambda n: (
                    n.find("topic-node-view[@is-expanded='False']") is not None
                    and n.find("sub-topics/topic-node") is not None
                )
            ),
        ),
        Rule(
            "colours",
            "color in fill-style or line-style of topic-node-style, font-color of the whole"
            " text (single words that are coloured are mostly links); 'C1V0' is a colour of the"
            " theme chosen for the topic",
            each(_nova_is_coloured),
        ),
        Rule("sheets", "maps/map", lambda o: len(o.document.findall("maps/map"))),
    ),
)

# --- iMindMap ----------------------------------------------------------------------------------

_IMAGE: Final = re.compile(r"(?:^|;)image=(\d+)(?:;|$)")
_STYLE_COLOUR: Final = re.compile(r"(?:stroke|font|fill)Color=#?\w")


def _open_imindmap(raw: RawFile) -> RawMap[Element] | None:
    root = raw.member_root("data.xml")
    if root is None or root.tag != "mmGraphModel":
        return None
    return RawMap(raw, root, (*root.iter("floatingIdea"), *root.iter("branch")))


def _imindmap_images(opened: RawMap[Element]) -> int:
    cells = [
        cell for name in ("floatingIdea", "image", "appcell") for cell in opened.document.iter(name)
    ]
    found = [_IMAGE.search(cell.get("style", "")) for cell in cells]
    return sum(image is not None and f"data/{image[1]}" in opened.raw.members for image in found)


IMINDMAP: Final = Format(
    "iMindMap",
    _open_imindmap,
    (
        Rule("topics", "floatingIdea, branch", number_of_topics),
        Rule(
            "images",
            "style 'image=N' of floatingIdea, image or appcell, if the archive has data/N (from"
            " a loader of others)",
            _imindmap_images,
        ),
        Rule(
            "floating",
            "floatingIdea beyond the first",
            lambda opened: max(0, sum(cell.tag == "floatingIdea" for cell in opened.topics) - 1),
        ),
        Rule(
            "colours",
            "style 'strokeColor=', 'fontColor=', 'fillColor=' (from a loader of others)",
            each(lambda cell: bool(_STYLE_COLOUR.search(cell.get("style", "")))),
        ),
    ),
)

# --- SimpleMind --------------------------------------------------------------------------------

_SIMPLE_LINKS: Final = ("urllink", "cloudmapref", "doclink")


def _open_simplemind(raw: RawFile) -> RawMap[Element] | None:
    root = raw.member_root("document/mindmap.xml") if raw.members else raw.root
    if root is None or root.tag != "simplemind-mindmaps":
        return None
    return RawMap(raw, root, tuple(root.findall("mindmap/topics/topic")))


def _simple_relations(opened: RawMap[Element]) -> list[Element]:
    ids = {topic.get("id") for topic in opened.topics} - {None, ""}
    found = opened.document.findall("mindmap/relations/relation")
    return [part for part in found if len({part.get("source"), part.get("target")} & ids) == 2]


def _simple_floating(opened: RawMap[Element]) -> int:
    ids = {topic.get("id") for topic in opened.topics}
    return max(0, sum(topic.get("parent") not in ids for topic in opened.topics) - 1)


SIMPLEMIND: Final = Format(
    "SimpleMind",
    _open_simplemind,
    (
        Rule("topics", "topics/topic", number_of_topics),
        Rule("notes", "note with words", each(lambda t: bool(words_in(t.find("note"))))),
        Rule(
            "links",
            "link@urllink/@cloudmapref/@doclink",
            each(
                lambda t: different(
                    link.get(name) for link in t.findall("link") for name in _SIMPLE_LINKS
                )
            ),
        ),
        Rule(
            "relationships",
            "relations/relation@source/@target (always empty in the corpus)",
            lambda opened: len(_simple_relations(opened)),
        ),
        Rule(
            "relationship_labels",
            "relation with words inside",
            lambda opened: sum(has_words(words_in(p)) for p in _simple_relations(opened)),
        ),
        Rule("floating", "topics without a parent, beyond the first", _simple_floating),
    ),
)
