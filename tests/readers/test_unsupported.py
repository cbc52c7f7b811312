"""Files of other kinds that have the extension of a map format."""

import pytest

from mapshelf.errors import NotAMap, UnreadableFile
from mapshelf.readers import READERS, Limits, read
from tests.readers.samples import archive_of

LIMITS = Limits()

IMPOSTORS = [
    (b"", "empty"),
    (b" \r\n\t", "empty"),
    (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n", "Git LFS"),
    (b"\x89PNG\r\n\x1a\n\x00\x00", "PNG"),
    (b"\xff\xd8\xff\xe0", "JPEG"),
    (b"%PDF-1.7\n", "PDF"),
    (b"<!DOCTYPE html><html><body>", "HTML"),
    (b"<!-- saved --><HTML lang=en>", "HTML"),
    (b'<view class="a" wx:if="{{b}}"><text>c</text></view>', "WeChat"),
    (b"<!-- x -->\n<import src='a.wxml'/>", "WeChat"),
    (b"// Copyright\n\n#import <Foundation/Foundation.h>\n", "Objective-C"),
    (b"/* x */\n@interface Foo : NSObject\n@end", "Objective-C"),
    (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "root element is svg"),
    (b"<?xml version='1.0'?><!DOCTYPE plist [<!ENTITY a 'b'>]><plist/>", "root element is plist"),
    (b'{"a": 1}', "JSON"),
    (b"let foo = true;\nprint(foo);\n", "text"),
    (b"\x00\x01\x02\x03\x04\x05", "binary"),
    (archive_of({"word/document.xml": "<w/>"}), "Word"),
    (archive_of({"a.txt": "a"}), "ZIP archive without"),
    (b"PK\x05\x06" + bytes(18), "ZIP archive without"),
]


@pytest.mark.parametrize(("data", "what"), IMPOSTORS, ids=[what for _, what in IMPOSTORS])
def test_impostor_is_named(data: bytes, what: str) -> None:
    with pytest.raises(NotAMap) as caught:
        read(data, LIMITS)
    message = str(caught.value)
    assert message.startswith("not a mind map: ")
    assert what in message
    assert "\n" not in message


def test_map_without_a_reader_is_not_called_an_impostor() -> None:
    with pytest.raises(UnreadableFile, match="map of EdrawMind") as caught:
        read(archive_of({"mmpage/page.bin": b"\x00"}), LIMITS)
    assert not isinstance(caught.value, NotAMap)


def test_table_names_each_format_once() -> None:
    names = [reader.name for reader in READERS]
    assert sorted(set(names)) == sorted(names)
