"""The FUSE protocol for the in-memory disk, as far as Mapshelf's programs need it.

It uses no library, because those for Python either identify files by paths (so that hard links
would be separate files, each with its own page cache) or need a compiler. The structures are those
of ``linux/fuse.h``, version 7.31.

The kernel keeps what programs see coherent: it sends each ``write`` at once, pages of mappings when
they are synced, and holds all locks itself.
"""

import errno
import os
import stat
import struct
from collections.abc import Callable
from typing import Final

from tests.power.disk import Facts, File, Folder, Node

MOST: Final = 1 << 20
"""Bytes that the kernel sends or asks for at a time."""

VALID: Final = 86_400
"""Seconds for which the kernel may remember names and facts: nobody else changes them."""

KEEP_CACHE: Final = 2
NO_REPLY: Final = (2, 42)
"""Messages that the kernel waits for no answer to: it forgets nodes."""

ROOT: Final = 1

Answer = Callable[[int, bytes], bytes]
Step = Callable[[str], None]
"""Called before each change with its kind: ``name``, ``write``, ``size`` or ``sync``; may raise."""


class Protocol:
    """Answers the messages of the kernel about one disk.

    Args:
        root: the top folder.
        step: called before each change; the program gets the error that it raises.
        mark: called with each name that begins with ``MARK`` and is looked up.
    """

    MARK: Final = ".mark-"

    def __init__(self, root: Folder, step: Step, mark: Callable[[str], None]) -> None:
        self.root = root
        self.syncs = True
        """Whether syncing has an effect; disks that lie exist."""
        self.free = 1 << 40
        self._step = step
        self._mark = mark
        self._nodes: dict[int, Node] = {ROOT: root}
        self._known: dict[int, int] = {}
        self._listed: dict[int, list[tuple[str, Node]]] = {}
        self._next = 1 << 32
        self._answers: dict[int, Answer] = {
            1: self._look_up, 3: self._facts_of, 4: self._set_facts, 8: self._make_node,
            9: self._make_folder, 10: self._unlink, 11: self._remove_folder, 12: self._rename,
            13: self._link, 14: self._open, 15: self._read, 16: self._write, 17: self._room,
            18: self._done, 20: self._sync, 25: self._done, 26: self._begin,
            27: self._open_folder, 28: self._list, 29: self._close_folder, 30: self._sync,
            35: self._create, 43: self._allocate, 45: self._rename_with_flags, 51: self._nameless,
        }  # fmt: skip

    def answer(self, message: bytes) -> bytes | None:
        """Return the reply to a message, ``None`` if the kernel expects none."""
        _, code, unique, node, _, _, _, _ = struct.unpack_from("<IIQQIIII", message)
        body = message[40:]
        if code in NO_REPLY:
            self._forget(code, node, body)
            return None
        if code == 36:  # FUSE_INTERRUPT, of a request that has a reply already
            return None
        found, fault = b"", 0
        try:
            known = self._answers.get(code)
            if known is None:
                raise OSError(errno.ENOSYS, "")
            found = known(node, body)
        except OSError as error:
            found, fault = b"", error.errno or errno.EIO
        return struct.pack("<IiQ", 16 + len(found), -fault, unique) + found

    # -- names -----------------------------------------------------------------------------------

    def _look_up(self, number: int, body: bytes) -> bytes:
        name = _text(body)
        if name.startswith(self.MARK):
            self._mark(name[len(self.MARK) :])
        return self._entry(self._named(number, name))

    def _make_node(self, number: int, body: bytes) -> bytes:
        mode, _, mask, _ = struct.unpack_from("<IIII", body)
        return self._entry(self._made(number, _text(body[16:]), mode & ~mask))

    def _create(self, number: int, body: bytes) -> bytes:
        _, mode, mask, _ = struct.unpack_from("<IIII", body)
        node = self._made(number, _text(body[16:]), mode & ~mask)
        return self._entry(node) + struct.pack("<QIi", 0, KEEP_CACHE, 0)

    def _nameless(self, _: int, body: bytes) -> bytes:
        _flags, mode, mask, _ = struct.unpack_from("<IIII", body)
        self._step("name")
        node = File(self._new_facts(mode & ~mask))
        node.facts.links = 0
        return self._entry(node) + struct.pack("<QIi", 0, KEEP_CACHE, 0)

    def _make_folder(self, number: int, body: bytes) -> bytes:
        mode, mask = struct.unpack_from("<II", body)
        self._step("name")
        made = Folder(self._new_facts(mode & ~mask))
        self._folder(number).change({_text(body[8:]): made})
        return self._entry(made)

    def _made(self, number: int, name: str, mode: int) -> File:
        if not stat.S_ISREG(mode) and stat.S_IFMT(mode):
            raise OSError(errno.EPERM, "")
        self._step("name")
        made = File(self._new_facts(mode))
        self._folder(number).change({name: made})
        return made

    def _unlink(self, number: int, body: bytes) -> bytes:
        name = _text(body)
        gone = self._named(number, name)
        self._step("name")
        gone.facts.links -= 1
        self._folder(number).change({name: None})
        return b""

    def _remove_folder(self, number: int, body: bytes) -> bytes:
        gone = self._named(number, _text(body))
        if isinstance(gone, Folder) and gone.names:
            raise OSError(errno.ENOTEMPTY, "")
        return self._unlink(number, body)

    def _rename(self, number: int, body: bytes) -> bytes:
        return self._renamed(number, struct.unpack_from("<Q", body)[0], body[8:], 0)

    def _rename_with_flags(self, number: int, body: bytes) -> bytes:
        target, flags, _ = struct.unpack_from("<QII", body)
        return self._renamed(number, target, body[16:], flags)

    def _renamed(self, number: int, target: int, names: bytes, flags: int) -> bytes:
        old, new = (os.fsdecode(name) for name in names.split(b"\0")[:2])
        node, there = self._named(number, old), self._folder(target).names.get(new)
        if flags & ~1:
            raise OSError(errno.EINVAL, "")
        if there is not None and flags & 1:
            raise OSError(errno.EEXIST, "")
        if isinstance(there, Folder) and there.names:
            raise OSError(errno.ENOTEMPTY, "")
        self._step("name")
        if there is not None:
            there.facts.links -= 1
        if number == target:
            self._folder(number).change({old: None, new: node})
        else:
            self._folder(target).change({new: node})
            self._folder(number).change({old: None})
        return b""

    def _link(self, number: int, body: bytes) -> bytes:
        node, name = self._nodes[struct.unpack_from("<Q", body)[0]], _text(body[8:])
        if name in self._folder(number).names:
            raise OSError(errno.EEXIST, "")
        self._step("name")
        node.facts.links += 1
        self._folder(number).change({name: node})
        return self._entry(node)

    # -- files -----------------------------------------------------------------------------------

    def _facts_of(self, number: int, _: bytes) -> bytes:
        return struct.pack("<QII", VALID, 0, 0) + _facts(self._nodes[number])

    def _set_facts(self, number: int, body: bytes) -> bytes:
        node = self._nodes[number]
        valid, _, _, size, _, accessed, modified, _, *rest = struct.unpack_from("<IIQQQQQQ8I", body)
        if valid & 8 and isinstance(node, File):
            self._step("size")
            node.write(size, None)
        facts = node.facts
        if valid & 1:
            facts.mode = stat.S_IMODE(rest[3])
        if valid & 6:
            facts.owner = (
                rest[5] if valid & 2 else facts.owner[0],
                rest[6] if valid & 4 else facts.owner[1],
            )
        if valid & 16:
            facts.times[0] = accessed * 10**9 + rest[0]
        if valid & 32:
            facts.times[1] = modified * 10**9 + rest[1]
        return self._facts_of(number, b"")

    def _open(self, _: int, body: bytes) -> bytes:
        if struct.unpack_from("<I", body)[0] & os.O_ACCMODE != os.O_RDONLY:
            self._step("open")
        return struct.pack("<QIi", 0, KEEP_CACHE, 0)

    def _read(self, number: int, body: bytes) -> bytes:
        _, offset, size = struct.unpack_from("<QQI", body)
        return bytes(self._file(number).data[offset : offset + size])

    def _write(self, number: int, body: bytes) -> bytes:
        _, offset, size = struct.unpack_from("<QQI", body)
        self._step("write")
        self._file(number).write(offset, body[40 : 40 + size])
        return struct.pack("<II", size, 0)

    def _allocate(self, number: int, body: bytes) -> bytes:
        _, offset, length, mode, _ = struct.unpack_from("<QQQII", body)
        if mode:
            raise OSError(errno.EOPNOTSUPP, "")
        self._step("size")
        file = self._file(number)
        file.write(max(len(file.data), offset + length), None)
        return b""

    def _sync(self, number: int, _: bytes) -> bytes:
        self._step("sync")
        if self.syncs:
            self._nodes[number].sync()
        return b""

    # -- folders ---------------------------------------------------------------------------------

    def _open_folder(self, number: int, _: bytes) -> bytes:
        self._next += 1
        here = self._folder(number)
        self._listed[self._next] = [(".", here), ("..", here), *here.names.items()]
        return struct.pack("<QIi", self._next, 0, 0)

    def _list(self, _: int, body: bytes) -> bytes:
        handle, offset, size = struct.unpack_from("<QQI", body)
        told = b""
        for place, (name, node) in enumerate(self._listed[handle][offset:], offset + 1):
            written = os.fsencode(name)
            row = struct.pack("<QQII", node.facts.number, place, len(written), node.kind >> 12)
            row += written + bytes(-len(written) % 8)
            if len(told) + len(row) > size:
                break
            told += row
        return told

    def _close_folder(self, _: int, body: bytes) -> bytes:
        self._listed.pop(struct.unpack_from("<Q", body)[0], None)
        return b""

    # -- other messages --------------------------------------------------------------------------

    def _begin(self, _: int, body: bytes) -> bytes:
        _, _, ahead, flags = struct.unpack_from("<IIII", body)
        wanted = flags & (1 << 0 | 1 << 5 | 1 << 22)  # parallel reads, large writes
        return struct.pack(
            "<IIIIHHIIHHI7I", 7, 31, ahead, wanted, 16, 12, MOST, 1, MOST // 4096, 0, 0, *[0] * 7
        )

    def _room(self, _: int, __: bytes) -> bytes:
        free = self.free // 4096
        return struct.pack(
            "<QQQQQ10I", 1 << 28, free, free, 1 << 20, 1 << 19, 4096, 255, 4096, *[0] * 7
        )

    def _done(self, _: int, __: bytes) -> bytes:
        return b""

    def _forget(self, code: int, number: int, body: bytes) -> None:
        gone = [(number, *struct.unpack_from("<Q", body))]
        if code == 42:
            count = struct.unpack_from("<I", body)[0]
            gone = [struct.unpack_from("<QQ", body, 8 + 16 * place) for place in range(count)]
        for one, times in gone:
            self._known[one] = self._known.get(one, 0) - times
            if self._known[one] <= 0 and one != ROOT:
                self._known.pop(one)
                self._nodes.pop(one, None)

    def _new_facts(self, mode: int) -> Facts:
        self._next += 1
        return Facts(self._next, stat.S_IMODE(mode))

    def _entry(self, node: Node) -> bytes:
        number = node.facts.number
        self._nodes[number] = node
        self._known[number] = self._known.get(number, 0) + 1
        return struct.pack("<QQQQII", number, 0, VALID, VALID, 0, 0) + _facts(node)

    def _folder(self, number: int) -> Folder:
        node = self._nodes[number]
        if not isinstance(node, Folder):
            raise OSError(errno.ENOTDIR, "")
        return node

    def _file(self, number: int) -> File:
        node = self._nodes[number]
        if not isinstance(node, File):
            raise OSError(errno.EISDIR, "")
        return node

    def _named(self, number: int, name: str) -> Node:
        node = self._folder(number).names.get(name)
        if node is None:
            raise OSError(errno.ENOENT, "")
        return node


def _facts(node: Node) -> bytes:
    size = len(node.data) if isinstance(node, File) else 4096
    facts = node.facts
    whole, parts = zip(*(divmod(moment, 10**9) for moment in facts.times), strict=True)
    return struct.pack(
        "<QQQQQQIIIIIIIIII",
        *(facts.number, size, -(-size // 512), *whole, *parts),
        *(node.kind | facts.mode, facts.links, *facts.owner, 0, 4096, 0),
    )


def _text(body: bytes) -> str:
    return os.fsdecode(body.partition(b"\0")[0])
