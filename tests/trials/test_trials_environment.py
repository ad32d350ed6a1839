from __future__ import annotations

import json
import subprocess
import sys

from okbench.trials.run.environment import hash_of, here, machine_line


def test_the_machine_line_names_what_a_timing_depends_on() -> None:
    machine = {
        "cpu": "AMD EPYC 9B14",
        "cores": 2,
        "memory_gb": 24,
        "os": "Linux 6.1",
        "arch": "x86_64",
        "python": "3.11.7",
        "packages": {"okbench": "0.1.0", "numpy": "2.4.6", "numba": "0.68.1"},
        "blas": {"name": "openblas", "version": "0.3.30", "core": "Haswell", "threads": 1},
        "openblas_coretype": "Haswell",
    }
    assert machine_line(machine) == (
        "AMD EPYC 9B14, 2 cores, 24 GB, Linux 6.1, Python 3.11.7, numpy 2.4.6, numba 0.68.1, "
        "okbench 0.1.0, openblas 0.3.30 Haswell, 1 thread per trial"
    )


def test_this_environment_is_plain_data_on_one_thread() -> None:
    assert json.loads(json.dumps(here())) == here()
    assert here()["blas"]["threads"] == 1
    assert machine_line(here())


def test_the_hash_changes_with_any_part_and_with_nothing_else() -> None:
    machine = dict(here())
    assert hash_of(machine) == hash_of(dict(reversed(machine.items())))
    assert hash_of({**machine, "python": "4.0"}) != hash_of(machine)


def test_reading_results_needs_no_numpy() -> None:
    code = (
        "import sys, okbench.trials.store.files, okbench.trials.run.environment\n"
        "assert not {'numpy', 'pandas', 'numba', 'scipy', 'joblib'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
