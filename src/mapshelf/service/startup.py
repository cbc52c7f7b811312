"""Service startup: claim the port and data folder, then start the processes in order.

Without a snapshot, all processes except the importer start at once. With one, the workers start
first: they can serve from the snapshot, and clients would wait longer if everything started
together. Once the service answers, or after ``HEAD_START``, the store is checked and the other
processes start. Reparsing starts last.
"""

import logging
import os
import socket
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from mapshelf.descriptors import raise_descriptor_limit
from mapshelf.errors import StoreUnavailable
from mapshelf.import_status import ImportStatus, StatusFile
from mapshelf.importer.attribution import Attribution
from mapshelf.metrics.count_files import clear_counts
from mapshelf.service.backup_plan import BackupPlan
from mapshelf.service.data_folder_lock import lock_data_folder
from mapshelf.service.listening import ListenAddress, bind_socket, listen, local_address
from mapshelf.service.probe import Probe
from mapshelf.service.service_manager import ServiceManager
from mapshelf.service.supervisor import Child, Supervisor
from mapshelf.service.worker_count import warn_of_few_tasks
from mapshelf.service.workers import accept_queue_of, new_workers
from mapshelf.settings import Settings
from mapshelf.snapshot import SnapshotDirectory
from mapshelf.store import open_store, sqlite_path

HEAD_START: Final = 3.0
"""Head start of the workers in seconds, if there is a snapshot, unless one answers earlier."""

HEAD_START_OF_IMPORT: Final = 10.0
"""Seconds before folders are imported, unless a worker answers earlier."""

REST_BEFORE_REPARSING: Final = 10.0
"""Seconds before reparsing starts: it is not urgent, and startup keeps the machine busy."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """The options of ``mapshelf serve``.

    Attributes:
        settings: the settings of the installation.
        address: the address to listen on.
        workers: the number of worker processes.
        folders: folders to synchronize the catalogue with.
        drain_seconds: how long to keep serving after a stop request.
        attribution: owner and category of the maps in the folders.
        metrics: the address that serves ``GET /metrics``, ``None`` to disable it.
        backups: the plan for daily backups, ``None`` to disable them.
    """

    settings: Settings
    address: ListenAddress
    workers: int
    folders: list[Path]
    drain_seconds: float
    attribution: Attribution = field(default_factory=Attribution)
    metrics: ListenAddress | None = None
    backups: BackupPlan | None = None


def serve(options: ServeOptions, announce: Callable[[], None]) -> None:
    """Run the service until a stop is requested.

    ``announce`` is called once, when the service first answers; systemd is notified, too.

    Raises:
        TooFewDescriptors: the system allows too few open files.
        CannotListen: the port is taken.
        FolderInUse: another service uses the data folder.
        CannotWrite: the data folder cannot be written.
        StoreError: the store cannot be used.
    """
    raise_descriptor_limit()
    settings = options.settings
    manager = ServiceManager.named_in(os.environ)

    def announce_to_all() -> None:
        announce()
        manager.ready()

    def begin_to_drain() -> None:
        manager.stopping()
        _mark_draining(settings)

    def begin_to_stop() -> None:
        manager.stopping()
        accept_queue.end()
        # Refuse new connections during shutdown instead of letting them wait in vain.
        listener.close()

    with ExitStack() as held:
        listener = held.enter_context(bind_socket(options.address))
        metrics_listener = (
            held.enter_context(bind_socket(options.metrics)) if options.metrics else None
        )
        held.enter_context(lock_data_folder(settings))
        listen(listener)
        clear_counts(settings.counts)
        startup = _Startup(settings, local_address(listener), announce_to_all)
        warn_of_few_tasks(options.workers)
        workers = new_workers(settings, listener, options.workers)
        children = [*workers, *_other_children(options, startup.others_due)]
        if metrics_listener is not None:
            listen(metrics_listener)
            children.append(_metrics(settings, metrics_listener, startup.others_due))
        settings.draining.unlink(missing_ok=True)
        _mark_importing(options)
        supervisor = Supervisor(
            children,
            drain_seconds=options.drain_seconds,
            on_drain=begin_to_drain,
            on_stop=begin_to_stop,
        )
        accept_queue = accept_queue_of(workers, listener, settings)
        accept_queue.watch()
        try:
            supervisor.run(startup.is_complete)
        finally:
            StatusFile(settings.data).clear()
            with suppress(OSError):
                settings.draining.unlink(missing_ok=True)


def _other_children(options: ServeOptions, others_due: float) -> list[Child]:
    """Return the processes of the service besides the workers, which start before them."""
    build = "mapshelf.service.build_process:run_build_process"
    folder_import = "mapshelf.service.folder_import_process:run_folder_import_process"
    children = [Child("builder", build, (options.settings,), due=others_due, renews=True)]
    if options.folders:
        arguments = (options.settings, options.folders, options.attribution)
        # Parsing files uses all processors; the workers need one first.
        due = max(others_due, time.monotonic() + HEAD_START_OF_IMPORT)
        children.append(Child("importer", folder_import, arguments, due=due))
    reparsing = "mapshelf.service.reparsing_process:run_reparsing_process"
    children.append(
        Child(
            "reparsing",
            reparsing,
            (options.settings, options.folders),
            due=others_due + REST_BEFORE_REPARSING,
            rest=REST_BEFORE_REPARSING,
            ends=True,
        )
    )
    database = sqlite_path(options.settings.database)
    if options.backups and database:
        back_up = "mapshelf.service.backup_process:run_backup_process"
        settings = options.settings
        plan = (settings.data, database, options.backups, settings.log_format)
        children.append(Child("backup", back_up, plan, due=others_due))
    return children


def _metrics(settings: Settings, listener: socket.socket, due: float) -> Child:
    """Return the process that serves ``GET /metrics`` on ``listener``."""
    run = "mapshelf.service.metrics_process:run_metrics_process"
    return Child("metrics", run, (settings, listener), due=due)


def _mark_importing(options: ServeOptions) -> None:
    """Mark an import as pending, so that the first page shows it before the importer starts."""
    status = StatusFile(options.settings.data)
    if options.folders:
        status.write(ImportStatus())
    else:
        status.clear()


def _mark_draining(settings: Settings) -> None:
    """Create the file that signals the workers that the service is draining."""
    try:
        settings.draining.touch()
    except OSError as error:
        log.error("/readyz cannot report that this node is draining: %s", error)


class _Startup:
    """Tracks startup: whether the service answers, and whether the store was checked.

    The supervisor opens the store once, so that an error is reported once and not by every process.
    """

    def __init__(
        self, settings: Settings, address: tuple[str, int], announce: Callable[[], None]
    ) -> None:
        """Start the clock; without a snapshot, check the store at once.

        Raises:
            StoreError: there is no snapshot, and the store cannot be used.
        """
        self._settings = settings
        self._probe = Probe(address)
        self._announce = announce
        self._answers = self._store_checked = False
        self.others_due = time.monotonic()
        """When (``time.monotonic``) to start the other processes at the latest."""
        if SnapshotDirectory(settings.snapshots).has_current():
            self.others_due += HEAD_START
        else:
            self._check_store()

    def is_complete(self) -> bool:
        """Return whether the service answers; announce it, and check the store when it is time."""
        if not self._answers and self._probe.is_answered():
            self._answers = True
            self._announce()
        if not self._store_checked and (self._answers or time.monotonic() > self.others_due):
            self._check_store()
        return self._answers

    def _check_store(self) -> None:
        """Open the store.

        Raises:
            StoreUnavailable: it cannot be reached, and there is no snapshot to answer from.
        """
        self._store_checked = True
        try:
            open_store(self._settings.database).close()
        except StoreUnavailable as error:
            if not SnapshotDirectory(self._settings.snapshots).has_current():
                raise
            log.warning("the store cannot be reached; answering from the snapshot: %s", error)
