"""Run a record and keep what comes of it, row by row."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from okbench.base.errors import ConfigError, DataError, OkbenchError, StoreError, UsageError
from okbench.learners.contract import Diverged, Draws, FloatArray, Problem, begun
from okbench.learners.draws import Kind, NamedArrays
from okbench.learners.registry import find
from okbench.protocols.contract import RowCounts, Stage
from okbench.protocols.costs import BadAnswer
from okbench.protocols.metrics import default_metric
from okbench.protocols.train_test import TRAIN_TEST
from okbench.trials.replay.record import Record
from okbench.trials.run.block_sizes import Span
from okbench.trials.run.protocol_loop import Ended, Route, Walker, figure_of
from okbench.trials.run.workers import ends_the_run, use_one_thread


@dataclass(frozen=True)
class Replayed:
    """What came of a run. Rows stand in the order they were met or, if the run has test rows, in
    which these were tested."""

    record: Record
    errors: FloatArray  # 1 for a mistake, or the squared error
    scores: FloatArray | None  # rows × columns; None for a learner that has only predictions
    supports: tuple[int | None, ...]  # at each tick
    support_size: int | None
    updates: int | None
    normals: tuple[FloatArray, ...]  # drawn, a matrix for each time the learner asked
    uniforms: FloatArray  # drawn
    named: NamedArrays  # drawn by name and kind, an array for each time the learner asked

    @property
    def is_regression(self) -> bool:
        return self.record.dataset.task == "regression"

    @property
    def total(self) -> int | float:
        """Mistakes, or the summed squared loss."""
        return self.total_after(len(self.errors))

    @property
    def curve(self) -> tuple[int | float, ...]:
        """The total at each tick."""
        return tuple(self.total_after(tick) for tick in self.record.ticks)

    def total_after(self, rows: int) -> int | float:
        total = float(self.errors[:rows].sum())
        return total if self.is_regression else int(total)

    @property
    def removal_slots(self) -> NDArray[np.int64] | None:
        """Which support each drawn uniform removed from a full budget, the oldest counted 0."""
        budget = dict(self.record.settings).get("budget")
        if not isinstance(budget, int):
            return None
        return np.floor(budget * self.uniforms).astype(np.int64)

    def figures(self) -> dict[str, Any]:
        """The numbers that `okbench replay` prints."""
        name = "summed_squared_loss" if self.is_regression else "mistakes"
        figures: dict[str, Any] = {
            "record": str(self.record.path),
            "learner": self.record.learner,
            "rows": len(self.record.order),
            **({} if self.record.test is None else {"test_rows": len(self.errors)}),
            name: self.total,
            "support_size": self.support_size,
            "updates": self.updates,
        }
        if self.record.test is None:
            figures |= {
                "ticks": self.record.ticks,
                "curve": self.curve,
                "support_curve": self.supports,
            }
        return figures | {"uniforms_used": len(self.uniforms)} | self.sums()

    def sums(self) -> dict[str, float]:
        """Checksums of the scores."""
        if self.scores is None:
            return {}
        return {"sum_f": float(self.scores.sum()), "sum_abs_f": float(np.abs(self.scores).sum())}

    def save_scores(self, path: Path) -> None:
        """Write the scores, rows × columns, as a .npy file."""
        if self.scores is None:
            raise UsageError(f"{self.record.learner} gives no scores")
        try:
            with path.open("wb") as file:
                np.save(file, self.scores, allow_pickle=False)
        except OSError as error:
            raise StoreError(f"{path}: cannot be written ({error.strerror or error})") from error


class NotedDraws(Draws):
    """Draws that remember what was drawn from them."""

    runs_on = False

    def __init__(self, source: Draws) -> None:
        self._source = source
        self._seen: FloatArray = np.empty(0)
        self.drawn_normals: list[FloatArray] = []
        self.drawn_uniforms: list[FloatArray] = []
        self.drawn_named: dict[tuple[str, Kind], list[NDArray[Any]]] = {}

    def normals(self, rows: int, columns: int) -> FloatArray:
        drawn = self._source.normals(rows, columns)
        self.drawn_normals.append(drawn.copy())
        return drawn

    def look_ahead(self, count: int) -> FloatArray:
        self._seen = self._source.look_ahead(count)
        return self._seen

    def use_up(self, count: int) -> None:
        self.drawn_uniforms.append(self._seen[:count].copy())
        self._seen = self._seen[count:]
        self._source.use_up(count)

    def named(self, name: str, kind: Kind, *size: int) -> NDArray[Any]:
        drawn = self._source.named(name, kind, *size)
        self.drawn_named.setdefault((name, kind), []).append(drawn.copy())
        return drawn


def replay(record: Record) -> Replayed:
    """Run a record, once: its draws are used up."""
    use_one_thread()
    dataset, draws = record.dataset, NotedDraws(record.draws)
    problem = Problem(dataset.task, dataset.n_features, dataset.classes, len(record.order))
    with _located(record):
        learner = begun(find(record.learner).load(), dict(record.settings), problem, draws)
    errors, scores, supports = _walk(record, problem, learner)
    return Replayed(
        record=record,
        errors=errors,
        scores=scores,
        supports=supports[: len(record.ticks)],
        support_size=figure_of(learner, "support_size"),
        updates=figure_of(learner, "updates"),
        normals=tuple(draws.drawn_normals),
        uniforms=np.concatenate([np.empty(0), *draws.drawn_uniforms]),
        named=draws.drawn_named,
    )


def _walk(
    record: Record, problem: Problem, learner: Any
) -> tuple[FloatArray, FloatArray | None, tuple[int | None, ...]]:
    """Errors and scores of the rows that are scored, and the supports after each tick."""
    begin = 0 if record.test is None else len(record.order)  # the first row that is scored
    order = record.order if record.test is None else np.concatenate([record.order, record.test])
    errors = np.zeros(len(order) - begin)

    def keep(span: Span, costs: FloatArray) -> None:
        if span[0] >= begin:
            errors[span[0] - begin : span[1] - begin] = costs

    scored = _scored(record, problem, learner)
    route = Route(
        record.learner,
        record.dataset,
        order,
        _stages(record, learner),
        default_metric(problem.task),
        stops=record.ticks,
        observe=keep,
    )
    walker = Walker(route, scored or learner)
    try:
        for stage in route.stages:
            walker.go(stage)
    except Ended as ended:
        with _located(record, *ended.span):
            raise ended.__cause__ or Diverged(0, ended.reason) from None
    supports = tuple(support for _, _, support, _ in walker.account.ledgers[0].points)
    return errors, scored.scores if scored else None, supports


def _stages(record: Record, learner: Any) -> tuple[Stage, ...]:
    """All rows in one pass, or training rows and then test rows."""
    if record.test is None:
        return (Stage(0, len(record.order), ("learn",), counted=True, drawn=True),)
    role = TRAIN_TEST.role_of(learner)
    assert role is not None  # as the record was checked
    train = len(record.order)
    return TRAIN_TEST.stages(role, RowCounts(train + len(record.test), train), 0)


def _scored(record: Record, problem: Problem, learner: Any) -> _Scored | None:
    """The learner with its scores kept, if it gives them."""
    if record.test is None:
        has_scores, kind = hasattr(learner, "learn_scores"), _Scored
    else:
        has_scores, kind = callable(getattr(learner, "scores", None)), _ScoredAfterwards
    return kind(learner, problem, len(record.scored)) if has_scores else None


class _Scored:
    """A learner whose scores are kept; all else that is asked of it is its own."""

    def __init__(self, learner: Any, problem: Problem, rows: int) -> None:
        self._learner, self._problem, self._rows = learner, problem, 0
        self.scores = np.zeros((rows, problem.n_columns))

    def learn(self, X: Any, y: Any) -> NDArray[Any]:
        begin, self._rows = self._rows, self._rows + len(y)
        self.scores[begin : self._rows] = self._learner.learn_scores(X, y)
        return self._problem.decide(self.scores[begin : self._rows])

    def __getattr__(self, name: str) -> Any:
        return getattr(self._learner, name)


class _ScoredAfterwards(_Scored):
    """A learner whose scores of test rows are kept beside its predictions, which may be those of a
    vote, and not of the scores."""

    def learn(self, X: Any, y: Any) -> NDArray[Any]:
        return np.asarray(self._learner.learn(X, y))

    def predict(self, X: Any) -> NDArray[Any]:
        begin, self._rows = self._rows, self._rows + X.shape[0]
        scores = np.asarray(self._learner.scores(X))
        self.scores[begin : self._rows] = scores.reshape(X.shape[0], -1)
        return np.asarray(self._learner.predict(X))


@contextmanager
def _located(record: Record, begin: int = 0, stop: int = 0) -> Iterator[None]:
    """Begin the message of an error with the record and the rows that are being learned."""
    place = f"{record.path}: in rows {begin} to {stop - 1}" if stop else str(record.path)
    try:
        yield
    except ends_the_run():
        raise
    except UsageError as error:
        raise ConfigError(f"{place}: {error}") from error
    except Diverged as error:
        raise OkbenchError(f"{record.path}: diverged at row {begin + error.row}") from error
    except DataError as error:
        raise DataError(f"{place}: {error}") from error
    except BadAnswer as error:
        raise OkbenchError(f"{place}: {record.learner} returned {error}") from error
    except BaseException as error:  # a user's learner may raise anything, sys.exit among it
        kind = type(error).__name__
        raise OkbenchError(f"{place}: {record.learner}: {kind}: {error}") from error
