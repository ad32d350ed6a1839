"""What okbench asks of an engine that runs tasks on many machines."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any, Protocol
from urllib.parse import urlsplit

from okbench.base.errors import OkbenchError, UsageError
from okbench.trials.plan.options import Options


@dataclass(frozen=True)
class Place:
    """A worker: `id` is its name for the engine, `name` for people; it takes `slots` tasks at a
    time on the machine `host`. An engine that hears of its workers says since how many seconds it
    has not (`silent`)."""

    id: str
    name: str
    host: str
    slots: int
    silent: float = 0.0


@dataclass(frozen=True)
class Here:
    """The worker that a task runs on, and whether the task was cancelled meanwhile."""

    place: str
    stopped: Callable[[], bool]


@dataclass(frozen=True)
class Ended:
    """How a task ended: with an answer, with what it raised, or with its worker (`lost`). Without
    any of them, the engine dropped the task, and it is to be submitted again."""

    ticket: str
    answer: Any = None
    error: BaseException | None = None
    lost: str = ""


class Cluster(Protocol):
    """An engine that is connected. A task is a call of a module's function, `call(here, *given)`,
    and has a ticket, a text of its own. The engine chooses its worker, and chooses another one when
    a worker is lost."""

    engine: str
    dashboard: str  # address of the engine's own pages, "" if there are none
    exposed: str  # address on a network to which nothing is encrypted, "" if it is not such

    def places(self) -> Sequence[Place]:
        """The workers that are there now."""
        ...

    def shared(self) -> str:
        """Why a trial would not have a machine of its own; empty when it would."""
        ...

    def submit(
        self,
        ticket: str,
        call: Callable[..., Any],
        *given: Any,
        at: str = "",
        shunned: Collection[str] = (),
    ) -> None:
        """Have a task run, on one worker or on any except some."""
        ...

    def ended(self, seconds: float) -> list[Ended]:
        """All tasks that have ended since the last call; it waits so long for the first."""
        ...

    def close(self) -> None:
        """Cancel all tasks, those that run too, and leave the engine as it was."""
        ...


class ClusterLost(OkbenchError):
    """Raised when the engine itself does not answer any more."""

    def __init__(self, engine: str, address: str, reason: object) -> None:
        super().__init__(
            f"{engine} at {address} does not answer ({reason}); outcomes so far are stored. Start "
            "it again, or give another address, and run again to go on"
        )


def connect(options: Options) -> Cluster:
    """The engine that is asked for, connected."""
    address = options.cluster.address
    if options.backend == "dask":
        if not address:
            raise UsageError("--backend dask needs the address of a scheduler: --scheduler tcp://…")
        from okbench.trials.cluster.dask import DaskCluster

        return DaskCluster(address)
    if not address:
        raise UsageError("--backend ray needs the address of a cluster: --address HOST:6379 (auto)")
    from okbench.trials.cluster.ray import RayCluster

    return RayCluster(address, alone=options.timing)


def is_local(address: str) -> bool:
    """Whether an address can be reached from this machine alone."""
    host = urlsplit(address if "://" in address else f"//{address}").hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def not_installed(engine: str, package: str, error: ImportError) -> UsageError:
    """The refusal where the package of an engine is missing."""
    return UsageError(
        f"--backend {engine} needs {package}: pip install 'okbench[{engine}]'  ({error})"
    )
