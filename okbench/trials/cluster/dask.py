"""Tasks on a Dask cluster, through the futures of `distributed.Client`."""

from __future__ import annotations

import queue
import time
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from multiprocessing import current_process
from typing import Any

from okbench.trials.cluster.contract import (
    ClusterLost,
    Ended,
    Here,
    Place,
    is_local,
    not_installed,
)

_CONNECT_SECONDS = 20
_REFRESH_SECONDS = 1.0
_ENCRYPTED = ("tls://", "wss://", "inproc://")


class DaskCluster:
    """A scheduler that runs already."""

    engine = "Dask"

    def __init__(self, address: str) -> None:
        try:
            from distributed import Client
        except ImportError as error:
            raise not_installed("dask", "distributed", error) from error
        self._address = address
        try:
            self._client = Client(address, timeout=_CONNECT_SECONDS, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            raise ClusterLost(self.engine, address, error) from error
        self.dashboard = str(self._client.dashboard_link or "")
        is_safe = address.startswith(_ENCRYPTED) or is_local(address)
        self.exposed = "" if is_safe else address
        self._futures: dict[str, Any] = {}
        self._only: dict[str, frozenset[str]] = {}  # the workers of tasks that not all may run
        self._done: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._looked = 0.0
        self._heard: dict[str, tuple[Any, float]] = {}  # heartbeats, with the time here

    def places(self) -> Sequence[Place]:
        workers, now = self._workers(), time.monotonic()
        heard, self._heard = self._heard, {}
        for id_, about in workers.items():
            beat, since = heard.get(id_, (None, now))
            is_new = beat != about["last_seen"]
            self._heard[id_] = about["last_seen"], now if is_new else since
        return [
            Place(
                id_,
                str(about["name"]),
                str(about["host"]),
                int(about["nthreads"]),
                silent=now - self._heard[id_][1],
            )
            for id_, about in workers.items()
        ]

    def shared(self) -> str:
        places = self.places()
        if crowded := [place.name for place in places if place.slots > 1]:
            return f"worker {crowded[0]} runs several tasks at a time (start it with --nthreads 1)"
        hosts = Counter(place.host for place in places)
        if many := [host for host, count in hosts.items() if count > 1]:
            return f"there are {hosts[many[0]]} workers on {many[0]}"
        ours = self._futures.keys()
        try:
            busy = [key for keys in self._client.processing().values() for key in keys]
        except (OSError, AttributeError):  # the client connects again, or it closes
            self._check()
            return ""
        return "the workers have other tasks" if set(map(str, busy)) - ours else ""

    def submit(
        self,
        ticket: str,
        call: Callable[..., Any],
        *given: Any,
        at: str = "",
        shunned: Collection[str] = (),
    ) -> None:
        only = frozenset({at}) if at else frozenset()
        if shunned and not at:
            only = frozenset(self._workers()) - frozenset(shunned)
        if only:
            self._only[ticket] = only
        future = self._client.submit(
            _task, ticket, call, *given, key=ticket, pure=False, workers=sorted(only) or None
        )
        self._futures[ticket] = future
        future.add_done_callback(lambda future: self._done.put(future.key))

    def ended(self, seconds: float) -> list[Ended]:
        found = []
        try:
            found.append(self._end_of(self._done.get(timeout=seconds)))
            while True:
                found.append(self._end_of(self._done.get_nowait()))
        except queue.Empty:
            pass
        return [end for end in (*found, *self._unreachable()) if end is not None]

    def close(self) -> None:
        if self._client.status == "running":
            self._client.cancel(list(self._futures.values()), force=True)
        self._futures.clear()
        self._client.close()

    def _workers(self) -> dict[str, Any]:
        try:
            info = self._client.scheduler_info(n_workers=-1)
        except OSError as error:
            raise ClusterLost(self.engine, self._address, error) from error
        self._check()  # afterwards, because the client forgets the workers while it closes
        return dict(info["workers"])

    def _check(self) -> None:
        """Dask's client tries to reach a lost scheduler again for a while, then it closes."""
        if self._client.status in ("closing", "closed"):
            raise ClusterLost(self.engine, self._address, "the connection is closed")

    def _end_of(self, ticket: str) -> Ended | None:
        from distributed import KilledWorker

        self._check()
        future = self._futures.pop(ticket, None)
        self._only.pop(ticket, None)
        if future is None:  # it was given up before
            return None
        try:
            return Ended(ticket, answer=future.result(timeout=_CONNECT_SECONDS))
        except KilledWorker as error:
            return Ended(ticket, lost=f"its workers died: {error}")
        except Exception as error:
            if future.status == "error":
                return Ended(ticket, error=error)
            if future.status in ("cancelled", "lost"):  # with the scheduler
                return Ended(ticket)
            future.cancel()
            return Ended(ticket, lost="its answer could not be read")

    def _unreachable(self) -> list[Ended]:
        """Tasks whose workers have all left: Dask would wait until one of them comes back."""
        if not self._only or time.monotonic() - self._looked < _REFRESH_SECONDS:
            return []
        self._looked = time.monotonic()
        there = self._workers().keys()
        gone = [ticket for ticket, only in self._only.items() if not only & there]
        for ticket in gone:
            del self._only[ticket]
            self._futures.pop(ticket).cancel()
        return [Ended(ticket, lost="its worker has left") for ticket in gone]


def _task(ticket: str, call: Callable[..., Any], *given: Any) -> Any:
    """What Dask runs on a worker, in one of its threads."""
    from distributed import get_worker

    worker = get_worker()
    # a worker that has a nanny is a daemon of multiprocessing, which may have no processes of its
    # own; those of a trial end with their parent in any case
    current_process().daemon = False

    def stopped() -> bool:
        task = worker.state.tasks.get(ticket)
        return task is None or task.state == "cancelled"

    return call(Here(worker.address, stopped), *given)
