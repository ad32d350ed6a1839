"""Speed and memory, as ratios measured in one run, on one thread."""

import os

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):  # read when NumPy is imported
    os.environ.setdefault(_name, "1")
