"""Tasks on a Ray cluster, through Ray's remote functions. A node of Ray is one worker."""

from __future__ import annotations

import os
import signal
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from okbench.trials.cluster.contract import (
    ClusterLost,
    Ended,
    Here,
    Place,
    is_local,
    not_installed,
)
from okbench.trials.run.protocol_loop import never

_RETRIES = 3  # of a task whose node or process dies
_NODE = "ray.io/node-id"  # the label that Ray gives each node


class RayCluster:
    """A cluster that runs already. With `alone`, each task takes all processors of its node."""

    engine = "Ray"

    def __init__(self, address: str, alone: bool = False) -> None:
        try:
            import ray
        except ImportError as error:
            raise not_installed("ray", "ray", error) from error
        self._ray, self._address, self._alone = ray, address, alone
        self._is_ours = not ray.is_initialized()
        self.dashboard = ""
        if self._is_ours:
            self._connect()
        where = ray.get_runtime_context().gcs_address if address == "auto" else address
        is_encrypted = os.environ.get("RAY_USE_TLS", "").lower() in ("1", "true")
        self.exposed = "" if is_encrypted or is_local(where) else where
        url = getattr(ray.get_runtime_context(), "dashboard_url", "") or self.dashboard
        self.dashboard = f"http://{url}" if url and "://" not in url else url
        self._refs: dict[Any, str] = {}

    def places(self) -> Sequence[Place]:
        return [
            Place(
                node["NodeID"],
                f"{node['NodeName']}/{node['NodeID'][:6]}",
                str(node["NodeManagerHostname"]),
                1 if self._alone else int(node["Resources"]["CPU"]),
            )
            for node in self._nodes()
        ]

    def shared(self) -> str:
        nodes = self._nodes()
        hosts = Counter(str(node["NodeManagerHostname"]) for node in nodes)
        if many := [host for host, count in hosts.items() if count > 1]:
            return f"there are {hosts[many[0]]} nodes on {many[0]}"
        sizes = {node["Resources"]["CPU"] for node in nodes}
        if len(sizes) > 1:
            return "the nodes have different numbers of CPUs, so that no request fills each of them"
        free, whole = self._ray.available_resources(), self._ray.cluster_resources()
        if not self._refs and free.get("CPU", 0) < whole.get("CPU", 0):
            return "the nodes have other tasks"
        return ""

    def submit(
        self,
        ticket: str,
        call: Callable[..., Any],
        *given: Any,
        at: str = "",
        shunned: Collection[str] = (),
    ) -> None:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        options: dict[str, Any] = {"num_cpus": self._cpus(), "max_retries": _RETRIES}
        if at:
            affinity = NodeAffinitySchedulingStrategy(at, soft=False)
            options |= {"scheduling_strategy": affinity, "num_cpus": 0}
        elif shunned:
            options["label_selector"] = {_NODE: f"!in({','.join(sorted(shunned))})"}
        task: Any = self._ray.remote(_task).options(**options)
        self._refs[task.remote(call, *given)] = ticket

    def ended(self, seconds: float) -> list[Ended]:
        refs = list(self._refs)
        if not refs:
            threading.Event().wait(seconds)
            return []
        try:
            self._ray.wait(refs, num_returns=1, timeout=seconds)
            done, _ = self._ray.wait(refs, num_returns=len(refs), timeout=0)
        except (self._ray.exceptions.RaySystemError, ConnectionError) as error:
            raise ClusterLost(self.engine, self._address, error) from error
        return [self._end_of(ref) for ref in done]

    def close(self) -> None:
        for ref in self._refs:
            self._ray.cancel(ref, force=False)
        self._refs.clear()
        if self._is_ours:
            self._ray.shutdown()

    def _connect(self) -> None:
        try:
            with _own_signals():
                context = self._ray.init(
                    address=self._address, log_to_driver=False, logging_level="error"
                )
        except (ConnectionError, ValueError, RuntimeError, TimeoutError) as error:
            raise ClusterLost(self.engine, self._address, error) from error
        self.dashboard = str(getattr(context, "dashboard_url", "") or "")

    def _nodes(self) -> list[dict[str, Any]]:
        """The nodes that are alive and have processors to run on."""
        try:
            nodes = self._ray.nodes()
        except (self._ray.exceptions.RaySystemError, ConnectionError) as error:
            raise ClusterLost(self.engine, self._address, error) from error
        return [node for node in nodes if node["Alive"] and node["Resources"].get("CPU")]

    def _cpus(self) -> float:
        return (
            max((node["Resources"]["CPU"] for node in self._nodes()), default=1)
            if (self._alone)
            else 1
        )

    def _end_of(self, ref: Any) -> Ended:
        ticket = self._refs.pop(ref)
        errors = self._ray.exceptions
        try:
            return Ended(ticket, answer=self._ray.get(ref))
        except errors.RayTaskError as error:
            return Ended(ticket, error=error.cause if error.cause else error)
        except errors.LocalRayletDiedError as error:
            reason = "the node of Ray that this command is connected to has died"
            raise ClusterLost(self.engine, self._address, reason) from error
        except errors.RayError as error:
            return Ended(ticket, lost=str(error).partition("\n")[0])


@contextmanager
def _own_signals() -> Iterator[None]:
    """Keep what SIGTERM does: Ray would have it end this process at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    kept = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, kept)


def _task(call: Callable[..., Any], *given: Any) -> Any:
    """What Ray runs on a node; a task that is cancelled raises KeyboardInterrupt."""
    import ray

    return call(Here(ray.get_runtime_context().get_node_id(), never), *given)
