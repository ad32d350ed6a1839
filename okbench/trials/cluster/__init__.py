"""Trials on the machines of a cluster: the same plan, store and tables as on one machine.

Dask or Ray finds a worker for each task, and another one when a machine is lost; nothing here
schedules. The engines' futures are used, not joblib's backends for them, because these cannot do
four things that a run relies on:

- Stop. joblib's backend for Dask cancels tasks that wait; one that runs goes on in its worker. A
  task of ours asks its engine whether it was cancelled, and ends its trial then.
- Survive deaths. Where a worker dies more often than Dask allows, or a process of Ray's
  `multiprocessing.Pool` dies, joblib raises, and with it ends the whole run. A future ends alone.
- Grow. joblib asks for the number of workers once, at the start, and hands out that many tasks, so
  that workers that join later find nothing to do.
- Hand out outcomes as they come, with the worker that they come from. Ray's backend cannot do the
  former (`return_as="generator_unordered"`), and neither of the two does the latter.

contract     what is asked of an engine
dask, ray    the two engines
head         from trials to outcomes, on the machine where the run was started
worker_watch which workers are there, as the head sees them
tasks        what a worker does, in processes that it can end
rows         rows by fingerprint, found on a worker or sent to it
sources      the modules of user-defined learners, sent with the trials
versions     whether a worker computes with the same programs
preview      what would be submitted
"""

__all__ = [
    "contract", "dask", "head", "preview", "ray", "rows", "sources", "tasks", "versions",
    "worker_watch",
]  # fmt: skip
