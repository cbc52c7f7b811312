"""Files made to do harm or to break a parser: each is read or refused at little cost."""

import io
import json
import plistlib
import random
import re
import subprocess
import sys
import textwrap
import warnings
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mapshelf.errors import BrokenFile, NotAMap, TooLarge, UnreadableFile
from mapshelf.formats.outline_codec import decode_outline, encode_outline
from mapshelf.model import Outline
from mapshelf.readers import READERS, Limits, Reader, read
from mapshelf.readers.parsing.content import Content
from mapshelf.readers.parsing.json_files import parse_json
from mapshelf.readers.parsing.limits import KIB, MIB
from tests.examples import examples, share
from tests.readers.samples import (
    archive,
    archive_of,
    freemind,
    patch_directory,
    xmind_json,
    xmind_xml,
)

LIMITS = Limits()
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
GOOD_XML = xmind_xml("<title>good</title>")


def nested_nodes(depth: int) -> bytes:
    return freemind('<node TEXT="a">' * depth + "</node>" * depth)


def nested_json(depth: int) -> bytes:
    return archive(content__json="[" * depth + "]" * depth)


def nested_topics_json(depth: int) -> bytes:
    text = '{"title":"a","children":{"attached":[' * depth + "]}}" * depth
    return archive(content__json=f'[{{"rootTopic":{text}}}]')


def overlapping() -> bytes:
    data = archive_of({"content.xml": GOOD_XML, "copy.xml.xml": GOOD_XML})
    return patch_directory(data, member=1, offset=42, value=0)


def member_past_the_end() -> bytes:
    data = archive_of({"content.xml": GOOD_XML})
    return patch_directory(data, member=0, offset=20, value=10 * MIB)


def understated() -> bytes:
    data = archive_of({"content.xml": GOOD_XML})
    return patch_directory(data, member=0, offset=24, value=100)


def duplicate() -> bytes:
    buffer = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(buffer, "w") as file:
        warnings.simplefilter("ignore")  # zipfile warns of it
        file.writestr("content.xml", GOOD_XML)
        file.writestr("/content.xml", xmind_xml("<title>other</title>"))
    return buffer.getvalue()


def encrypted() -> bytes:
    data = archive_of({"content.xml": GOOD_XML})
    return patch_directory(data, member=0, offset=8, value=1, form="<H")


def entity_bomb() -> bytes:
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))
    declaration = f'<!DOCTYPE map [<!ENTITY e0 "ha">{entities}]>'
    return declaration.encode() + freemind('<node TEXT="&e9;"/>')


def topics_with(text: str, nodes: list[dict[str, object]]) -> bytes:
    """Return a MindNode file; a property list contains equal values only once."""
    root = {"title": {"text": text}, "subnodes": nodes}
    document = {"mindMap": {"mainNodes": [root], "mainNode": 1}}
    return plistlib.dumps(document, fmt=plistlib.FMT_BINARY)


Bomb = tuple[str, Callable[[], bytes], type[UnreadableFile], str]

BOMBS: list[Bomb] = [
    ("entity bomb", entity_bomb, BrokenFile, "DOCTYPE"),
    (
        "external entity",
        lambda: (
            b'<?xml version="1.0"?><!DOCTYPE map [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
            + freemind('<node TEXT="x">&x;</node>')
        ),
        BrokenFile,
        "DOCTYPE",
    ),
    (
        "external DTD in UTF-16",
        lambda: '<!DOCTYPE map SYSTEM "http://127.0.0.1:9/"><map version="1"/>'.encode("utf-16"),
        BrokenFile,
        "DOCTYPE",
    ),
    (
        "200,000 attributes",
        lambda: freemind("<node " + " ".join(f"a{n}=''" for n in range(200_000)) + "/>"),
        TooLarge,
        "200,000 attributes; the limit is 1,000",
    ),
    ("XML 100,000 deep", lambda: nested_nodes(100_000), TooLarge, "1,024 elements deep"),
    ("topics 257 deep", lambda: nested_nodes(257), TooLarge, "nested more than 256 deep"),
    ("JSON 100,000 deep", lambda: nested_json(100_000), TooLarge, "nested too deep"),
    ("JSON topics 257 deep", lambda: nested_topics_json(257), TooLarge, "deep"),
    (
        "too many topics",
        lambda: freemind("<node>" + "<node/>" * 100_000 + "</node>"),
        TooLarge,
        "more than 100,000 topics",
    ),
    ("too many elements", lambda: freemind("<a/>" * 1_000_001), TooLarge, "1,000,000 XML"),
    (
        "too much to mend",
        lambda: freemind(f"<node TEXT='{'& ' * (15 * MIB)}'/>"),
        TooLarge,
        "more than 1,000,000 references",
    ),
    (
        "one text in a thousand topics",
        lambda: topics_with("r" * 64 * KIB, [{"title": {"text": "t" * 64 * KIB}}] * 1000),
        TooLarge,
        "its texts together are larger than 32 MiB",
    ),
    (
        "one note in a thousand topics",
        lambda: topics_with("r", [{"note": {"text": "<b>n</b> " * 5000}}] * 1000),
        TooLarge,
        "its texts together are larger than 32 MiB",
    ),
    ("31 MB of line breaks", lambda: b"\r\n" * (31 * MIB // 2), NotAMap, "the file is empty"),
    ("declarations without end", lambda: b"<??>" * (31 * MIB // 4), NotAMap, "not a mind map"),
    ("comments without end", lambda: b"<!---->" * (31 * MIB // 7), NotAMap, "not a mind map"),
    ("DOCTYPEs without end", lambda: b"<![]>" * (31 * MIB // 5), NotAMap, "not a mind map"),
    ("file too large", lambda: b" " * (32 * MIB + 1), TooLarge, "larger than 32 MiB"),
    ("zip bomb", lambda: archive(content__xml=b" " * 60 * MIB), TooLarge, "100 times"),
    (
        "too many members",
        lambda: archive_of({f"{n}": "" for n in range(1_001)}),
        TooLarge,
        "1,001 members; the limit is 1,000",
    ),
    ("overlapping members", overlapping, BrokenFile, "overlap"),
    ("member past the end", member_past_the_end, BrokenFile, "past its end"),
    ("understated size", understated, BrokenFile, "content.xml in the archive is damaged"),
    ("duplicate member", duplicate, BrokenFile, "more than once"),
    ("encrypted member", encrypted, BrokenFile, "encrypted"),
    ("half an archive", lambda: archive(content__xml=GOOD_XML)[:200], BrokenFile, "cut short"),
    (
        "unusual compression",
        lambda: patch_directory(archive(content__xml=GOOD_XML), 0, 10, 14, "<H"),
        BrokenFile,
        "unusual",
    ),
]


READING = textwrap.dedent(
    """
    import json, os, sys, time
    from pathlib import Path
    from mapshelf.errors import UnreadableFile
    from mapshelf.readers import Limits, read
    from mapshelf.readers.sandboxed_reader import RefusedFile, read_file

    def cost(path, whole):
        error = reason = ""
        try:
            result = read_file(path, Limits()) if whole else read(Path(path).read_bytes(), Limits())
            if isinstance(result, RefusedFile):
                error, reason = "refused", result.reason
        except UnreadableFile as caught:
            error, reason = type(caught).__name__, str(caught)
        kilobytes = "0"
        if sys.platform == "linux":
            # Not what getrusage tells: that begins with what the parent took.
            with open("/proc/self/status") as status:
                kilobytes = next(line.split()[1] for line in status if line.startswith("VmHWM:"))
        return [error, reason, int(kilobytes), time.process_time()]

    for line in sys.stdin:
        path, how = json.loads(line)
        child = os.fork()
        if not child:
            print(json.dumps(cost(path, how == "whole")), flush=True)
            os._exit(0)
        if os.waitpid(child, 0)[1]:
            print(json.dumps("the process that was reading died"), flush=True)
    """
)
"""A program that reads each file in its own process, where nothing else takes memory or time.

It forks these processes, so that modules are imported once and not for each file.
"""


@pytest.fixture(scope="module")
def reading() -> Iterator["subprocess.Popen[str]"]:
    """A process that reads each file that a test names."""
    command = [sys.executable, "-c", READING]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield process


class Cost(NamedTuple):
    """The result and the cost of reading a file.

    Attributes:
        error: the name of the error that refused the file, empty if it was read.
        reason: the message of that error.
        kilobytes: the peak memory of the process, 0 if the system does not report it.
        seconds: of processor time.
    """

    error: str
    reason: str
    kilobytes: int
    seconds: float


def cost_of(data: bytes, how: str, folder: Path, reading: "subprocess.Popen[str]") -> Cost:
    """Read ``data`` with the reader ``alone``, or as the ``whole`` import does."""
    assert reading.stdin is not None
    assert reading.stdout is not None
    path = folder / "bomb.mm"
    path.write_bytes(data)
    reading.stdin.write(json.dumps([str(path), how]) + "\n")
    reading.stdin.flush()
    told = json.loads(reading.stdout.readline())
    assert isinstance(told, list), told
    cost = Cost(*told)
    assert cost.kilobytes < 256 * 1_000_000 / KIB
    return cost


@pytest.mark.process
@pytest.mark.parametrize(
    ("make", "error", "message"), [b[1:] for b in BOMBS], ids=[b[0] for b in BOMBS]
)
def test_bombs_are_refused_in_less_than_256_mb(
    make: Callable[[], bytes],
    error: type[UnreadableFile],
    message: str,
    tmp_path: Path,
    reading: "subprocess.Popen[str]",
) -> None:
    cost = cost_of(make(), "alone", tmp_path, reading)
    assert cost.error == error.__name__
    assert message in cost.reason
    assert "\n" not in cost.reason
    assert cost.seconds < LIMITS.cpu_seconds / 2


EATABLE: dict[str, Callable[[], bytes]] = {
    "attribute of 8 MB": lambda: freemind(f'<node TEXT="{"é" * 4 * MIB}"/>'),
    "attribute of 30 MB": lambda: freemind(f'<node TEXT="{"a" * 30 * MIB}"/>'),
    "ideographs of 30 MB": lambda: freemind(f'<node TEXT="{"思" * 10 * MIB}"/>'),
    "a million references to mend": lambda: freemind(
        f"<node TEXT='{'&nbsp;' * 999_000}{'a' * 20 * MIB}'/>"
    ),
    "forbidden characters of 30 MB": lambda: freemind(
        f'<node TEXT="{(chr(1) + "a") * 15 * MIB}"/>'
    ),
    "a million elements": lambda: freemind(f"<node>{'<a/>' * 999_000}</node>"),
    "100,000 topics": lambda: freemind(f"<node>{'<node/>' * 99_999}</node>"),
    "900,000 JSON objects": lambda: (
        b'{"formatVersion": 2, "ideas": {}, "a": [' + b"{}," * 900_000 + b"0]}"
    ),
    "JSON string of 30 MB": lambda: (
        b'{"formatVersion": 2, "ideas": {}, "title": "' + b"\\u601d" * 5 * MIB + b'"}'
    ),
}
"""Files that are expensive but must be read."""


@pytest.mark.process
@pytest.mark.parametrize("name", share(list(EATABLE), 0))
def test_expensive_files_are_read_in_less_than_256_mb(
    name: str, tmp_path: Path, reading: "subprocess.Popen[str]"
) -> None:
    cost = cost_of(EATABLE[name](), "whole", tmp_path, reading)
    assert (cost.error, cost.reason) == ("", "")


def survives_encoding(outline: Outline) -> bool:
    """Compare encoded bytes: ``==`` on topics recurses too deeply for the deepest trees."""
    data = encode_outline(outline)
    return encode_outline(decode_outline(data)) == data


def test_json_values_are_counted() -> None:
    text = "[" + "0," * 1_000 + "0]"
    assert parse_json(text, Limits(topics=100)) == [0] * 1_001
    with pytest.raises(TooLarge, match="more than 900 JSON values"):
        parse_json(text, Limits(topics=9))


def test_deepest_allowed_tree_is_read() -> None:
    for data in (nested_nodes(256), nested_topics_json(256)):
        outline = read(data, LIMITS)
        assert max(depth for depth, _ in outline.topics()) == 255
        assert survives_encoding(outline)


def test_all_members_together_are_counted() -> None:
    noise = random.Random(1).randbytes(200 * KIB).hex()
    data = archive(content__xml=GOOD_XML.replace("good", noise), meta__xml=f"<a>{noise}</a>")
    assert read(data, LIMITS).software == "XMind"
    with pytest.raises(TooLarge, match="unpacks to more than"):
        read(data, Limits(unpacked=300 * KIB))


@pytest.mark.slow
def test_attribute_of_8_mb_is_cut() -> None:
    root = read(freemind(f'<node TEXT="{"é" * 4 * MIB}" LINK="{"x" * MIB}"/>'), LIMITS).roots[0]
    assert root.text.endswith("é…")
    assert 64 * KIB - 4 < len(root.text.encode()) <= 64 * KIB
    assert root.links == ()


@pytest.mark.slow
def test_formatting_of_endless_notes_is_left_out() -> None:
    note = f"<richcontent TYPE='NOTE'><html>{'<b>x</b>' * 1_000}</html></richcontent>"
    children = f'<node TEXT="a">{note}</node>' * 200
    root = read(freemind(f'<node TEXT="r">{children}</node>'), LIMITS).roots[0]
    assert all(child.note for child in root.children)
    formatted = [bool(child.note_html) for child in root.children]
    assert formatted == sorted(formatted, reverse=True)
    assert 50 < formatted.count(True) < 150


def test_member_names_outside_the_folder_write_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "inside").mkdir()
    monkeypatch.chdir(tmp_path / "inside")
    names = ["../climbed", "/absolute", "..\\..\\windows", "C:\\x", "content.xml"]
    assert read(archive_of(dict.fromkeys(names, GOOD_XML)), LIMITS).roots[0].text == "good"
    assert [path.name for path in tmp_path.rglob("*")] == ["inside"]


JAPANESE = "日本語の地図"
CHINESE = "思维导图"


@pytest.mark.parametrize(
    ("text", "declared", "codec", "mark"),
    [
        ("é€ß", "", "utf-8", b""),
        ("é€ß", "", "utf-8", b"\xef\xbb\xbf"),
        (CHINESE, "UTF-16", "utf-16-le", b"\xff\xfe"),
        (CHINESE, "", "utf-16-be", b"\xfe\xff"),
        (CHINESE, "UTF-16", "utf-16-le", b""),
        (CHINESE, "", "utf-16-be", b""),
        (CHINESE, "", "utf-32-le", b"\xff\xfe\x00\x00"),
        ("éß", "ISO-8859-1", "latin-1", b""),
        ("éß", "", "latin-1", b""),
        ("“é”", "", "cp1252", b""),
        ("\x81é", "", "latin-1", b""),
        ("éß", "UTF-8", "latin-1", b""),
        (CHINESE, "UTF-16", "utf-8", b""),
        (CHINESE, "GB2312", "gbk", b""),
        (CHINESE, "gbk", "gbk", b""),
        (JAPANESE, "Shift_JIS", "shift-jis", b""),
        ("éß", "no-such-encoding", "utf-8", b""),
        ("éß", "unicode_escape", "utf-8", b""),
    ],
)
def test_encodings(text: str, declared: str, codec: str, mark: bytes) -> None:
    declaration = f'<?xml version="1.0" encoding="{declared}"?>' if declared else ""
    source = f'{declaration}<map version="1.0.1"><node TEXT="{text}"/></map>'
    assert read(mark + source.encode(codec), LIMITS).roots[0].text == text.lstrip("\x81")


@pytest.mark.parametrize(
    ("json_text", "expected"),
    [
        ('{"title": "t", "x": NaN, "y": [Infinity, -Infinity]}', "t"),
        (f'{{"title": "t", "x": {"9" * 5000}, "y": -{"9" * 5000}, "z": 1e999999}}', "t"),
        (r'{"title": "a\ud83d b"}', "a b"),
        (r'{"title": "a\ud83d\ude00b"}', "a😀b"),
        (r'{"title": "a\u0000\u202eb"}', "ab"),
        ('{"title": "raw\x01\ttab"}', "raw\ttab"),
        ('{"title": "first", "title": "last"}', "last"),
        ('{"title": 5}', "5"),
        ('{"title": {"a": 5}}', ""),
    ],
)
def test_json_oddities(json_text: str, expected: str) -> None:
    outline = read(archive(content__json=f'[{{"rootTopic": {json_text}}}]'), LIMITS)
    assert outline.roots[0].text == expected
    assert survives_encoding(outline)


def test_json_in_another_encoding() -> None:
    text = json.dumps([{"rootTopic": {"title": "é"}}], ensure_ascii=False)
    for data in (text.encode("cp1252"), text.encode("utf-16"), text.encode("utf-16-le")):
        assert read(archive(content__json=data), LIMITS).roots[0].text == "é"


SAMPLES = {
    "freemind": freemind(
        '<node ID="1" TEXT="Root &eacute;"><richcontent TYPE="NOTE"><html><body><p>n&nbsp;</p>'
        '</body></html></richcontent><node TEXT="&lt;html&gt;&lt;p&gt;x" LINK="y"/></node>',
        version="freeplane 1.9.8",
    ),
    "xmind json": xmind_json(
        {"title": "a", "children": {"attached": [{"title": "b", "notes": {"plain": {}}}]}}
    ),
    "xmind xml": archive(
        content__xml=xmind_xml("<title>a</title><notes><html>b</html></notes>"),
        meta__xml="<meta><Creator><Name>XMind</Name></Creator></meta>",
    ),
    "bare xml": xmind_xml("<title>a</title>").encode(),
}


def smallest_example(reader: Reader) -> Path:
    """Return our smallest sample that ``reader`` reads."""
    suffixes = (*reader.suffixes, *reader.shared)
    found = [path for path in EXAMPLES.glob("*/*.*") if path.name.endswith(suffixes)]
    return min(
        (path for path in found if reader.sniff(Content(path.read_bytes(), LIMITS, path.name))),
        key=lambda path: path.stat().st_size,
    )


SAMPLES |= {reader.name: smallest_example(reader).read_bytes() for reader in READERS}
NAMES = {reader.name: smallest_example(reader).name for reader in READERS}
"""The file name of each sample: readers of text formats recognise maps by name."""

FORMAL = [name for name, data in SAMPLES.items() if data.lstrip()[:1] in (b"P", b"<", b"{")]
"""Archives, XML and JSON, which are never valid if truncated."""


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMAL)
@pytest.mark.parametrize("tenth", range(10))
def test_truncated_at_every_tenth(name: str, tenth: int) -> None:
    data = SAMPLES[name]
    with pytest.raises((BrokenFile, NotAMap)):
        read(data[: len(data) * tenth // 10], LIMITS)


@pytest.mark.parametrize("name", sorted(SAMPLES.keys() - set(FORMAL)))
@pytest.mark.parametrize("tenth", range(10))
def test_text_truncated_at_every_tenth(name: str, tenth: int) -> None:
    data = SAMPLES[name]
    read_or_refuse(data[: len(data) * tenth // 10], NAMES[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, data in SAMPLES.items() if data[:2] == b"PK"])
@pytest.mark.parametrize("tenth", range(10))
def test_members_truncated_at_every_tenth(name: str, tenth: int) -> None:
    """A valid archive with a truncated member, which no checksum reveals."""
    for member, content in members_of(SAMPLES[name]).items():
        cut = content[: len(content) * tenth // 10]
        read_or_refuse(archive_of({**members_of(SAMPLES[name]), member: cut}))


def with_entities(source: bytes) -> bytes:
    """Return XML with a DOCTYPE that names its root element and declares an entity."""
    text = re.sub(r"<!DOCTYPE[^>]*>", "", source.decode("utf-8-sig"))
    root = re.search(r"<([A-Za-z][\w:.-]*)", text)
    assert root is not None
    declaration = f'<!DOCTYPE {root[1]} [<!ENTITY a "{"ha" * 100}">]>'
    return (text[: root.start()] + declaration + text[root.start() :]).encode()


@pytest.mark.parametrize("name", FORMAL)
def test_no_reader_accepts_entities(name: str) -> None:
    data = SAMPLES[name]
    if data.startswith(b"<"):
        data = with_entities(data)
    elif data.startswith(b"PK"):
        members = members_of(data)
        marked = {
            member: with_entities(content)
            for member, content in members.items()
            if isinstance(content, bytes) and content.lstrip(b"\xef\xbb\xbf").startswith(b"<")
        }
        data = archive_of({**members, **marked})
        if not marked or "content.json" in members:
            return  # JSON and binary property lists have no entities
    else:
        return
    with pytest.raises(BrokenFile, match="DOCTYPE"):
        read(data, LIMITS)


def members_of(data: bytes) -> dict[str, str | bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        return {name: file.read(name) for name in file.namelist()}


def read_or_refuse(data: bytes, name: str = "") -> Outline | None:
    """Return the outline, or ``None`` if the reader refused; other exceptions pass through."""
    try:
        outline = read(data, Limits(topics=1_000, unpacked=MIB), name=name)
    except UnreadableFile as error:
        message = str(error)
    else:
        assert outline.roots
        assert survives_encoding(outline)
        return outline
    assert message
    assert "\n" not in message
    return None


Edit = tuple[int, int, bytes]

FRAGMENTS = [b"<", b"&", b"]]>", b"<![CDATA[", b"<!--", b"<!DOCTYPE x[", b"PK\x01\x02", b'"']
FRAGMENTS += [b"\\ud800", b"[" * 50, b"<node>" * 30, b"\xff\xfe", b"&#xd800;", b"\x00"]


@pytest.mark.slow
@settings(max_examples=examples(2_000))
@given(
    name=st.sampled_from(sorted(SAMPLES)),
    edits=st.lists(
        st.tuples(
            st.integers(0, 20_000),
            st.integers(0, 40),
            st.one_of(
                st.binary(max_size=12),
                st.sampled_from(FRAGMENTS),
            ),
        ),
        max_size=6,
    ),
)
@example(name="freemind", edits=[])
@example(name="xmind json", edits=[])
def test_mutated_files_raise_only_known_errors(name: str, edits: list[Edit]) -> None:
    outline = read_or_refuse(mutated(SAMPLES[name], edits), NAMES.get(name, ""))
    assert edits or outline is not None


@pytest.mark.slow
@settings(max_examples=examples(2_000))
@given(
    name=st.sampled_from([name for name, data in SAMPLES.items() if data[:2] == b"PK"]),
    which=st.integers(0, 10),
    edits=st.lists(
        st.tuples(st.integers(0, 20_000), st.integers(0, 40), st.sampled_from(FRAGMENTS)),
        max_size=6,
    ),
)
def test_mutated_members_raise_only_known_errors(name: str, which: int, edits: list[Edit]) -> None:
    members = members_of(SAMPLES[name])
    member = sorted(members)[which % len(members)]
    content = members[member]
    assert isinstance(content, bytes)
    read_or_refuse(archive_of({**members, member: mutated(content, edits)}))


def mutated(data: bytes, edits: list[Edit]) -> bytes:
    changed = bytearray(data)
    for position, length, replacement in edits:
        start = position % (len(changed) + 1)
        changed[start : start + length] = replacement
    return bytes(changed)


@pytest.mark.slow
@settings(max_examples=examples(300))
@given(
    content=st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(
                st.sampled_from(
                    [
                        *("rootTopic", "title", "children", "attached", "notes", "plain"),
                        *("content", "ideas", "1", "attr", "root", "data", "text"),
                    ]
                ),
                inner,
                max_size=4,
            )
        ),
        max_leaves=20,
    )
)
def test_any_json_raises_only_known_errors(content: object) -> None:
    read_or_refuse(archive(content__json=json.dumps(content), metadata__json=json.dumps(content)))
    read_or_refuse(archive(content__json=json.dumps([{"rootTopic": content}])))
    read_or_refuse(json.dumps({"ideas": content, "attr": content, "title": content}).encode())
    read_or_refuse(
        json.dumps({"root": {"data": content, "children": [content], "text": 1}}).encode()
    )
    read_or_refuse(json.dumps({"root": {"data": {"text": ""}, "children": [content]}}).encode())
