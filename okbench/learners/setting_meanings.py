"""What the settings of the learners mean, in one line each, for `okbench show` and `help`."""

from __future__ import annotations

from collections.abc import Mapping

MEANINGS: Mapping[str, str] = {
    "aggressiveness": "most that a row may add to its own score, C",
    "averages": "whether an update is divided by the number of partitionings",
    "bandwidth": "bandwidth of the kernel between particles, or how it is chosen",
    "base": "the lengths of the intervals are powers of this number",
    "batch": "rows of a gradient step",
    "bias": "whether a constant is learned beside the weights",
    "budget": "most rows that are kept as support vectors",
    "cache": "megabytes for kernel values",
    "chunk": "rows that are mapped at a time",
    "clip": "bound of a coefficient in steps, or none",
    "combination": "how the answers of the kernels are combined: weighted or sampled",
    "components": "random frequencies; each gives a cosine and a sine",
    "cost": "cost of a row that violates its margin, C",
    "data_term": "whether the gradient is summed or averaged over the rows",
    "decay": "weight of the penalty on the size of the model, λ",
    "directions": "orthogonal or independent frequencies",
    "discount": "factor on the weight of a kernel after a loss",
    "divide_step": "whether the step is divided by the number of the step",
    "epochs": "passes over the training rows",
    "epsilon": "errors up to this are not learned (regression)",
    "factor": "whether features are divided by the root of components",
    "flush": "scores closer to zero than this count as zero",
    "form": "the update of the paper or of the released program",
    "guard": "a residual of a projection that is below this counts as that of a repeated row",
    "handed_over": "vectors that leave a full budget at a time",
    "initial": "first rows, of which the map is made in a single pass",
    "iterations": "most iterations of the solver",
    "kernel": "gaussian, or another kernel",
    "kernels": "the kernels that are combined",
    "landmarks": "how the rows of the map are chosen",
    "library": "library that computes the map",
    "loss": "the loss that is learned",
    "maintenance": "merging or removal when the budget is full",
    "map": "how cells are made: by trees or by nearest points",
    "margin": "rows with a smaller margin than this are learned",
    "max_iterations": "most iterations of the solver",
    "merging": "which vectors may be merged",
    "moves_scales": "whether scales of the inputs are learned",
    "nu": "share of the rows that is learned",
    "particles": "models that are moved together",
    "partitionings": "partitionings of the space",
    "passes": "passes over the rows",
    "positive_scales": "whether scales stay positive",
    "precision": "single or double",
    "prediction": "how the answers of the particles are combined",
    "product": "indexed or naive products with the map",
    "psi": "cells of a partitioning",
    "rank": "dimensions of the map that follows the full budget",
    "root": "the larger root of the program (reference) or the paper's rule (correct)",
    "scale": "scale of the inputs at the beginning",
    "scale_deviation": "deviation of the prior of the scales",
    "scale_step": "step of the scales",
    "scales": "the scales at the beginning, one per model",
    "search": "golden section or table, for the place of a merged vector",
    "several": "how several classes are treated",
    "smoothing": "share of the sampling that is uniform",
    "squared_width": "whether frequencies are those of the squared width, as in the program",
    "stale": "whether a recycled row of coefficients keeps those of other classes",
    "step": "size of an update, η",
    "switch": "when the map takes over from the support vectors",
    "tolerance": "precision at which the solver stops",
    "update": "whether all kernels are updated at a row, or sampled ones",
    "weight_deviation": "deviation of the prior of the weights",
    "weight_step": "step of the weights of the kernels, or none for the step",
    "width": "width of the Gaussian kernel exp(-‖x - z‖² / (2 width²))",
    "widths": "the widths of the kernels that are combined",
}


OF_LEARNERS: Mapping[tuple[str, str], str] = {
    ("BKM", "iterations"): "number of updates, or rule: a share of the rows",
    ("BKM", "root"): "squares of the steps: a running mean (forgetting) or their sum",
    ("LaplacianNOGD", "averages"): "whether scores are those of the mean of the weights",
    ("LaplacianNOGD", "psi"): "base of the kernel psi^(-|x - z| / columns)",
    ("LaplacianOGD", "psi"): "base of the kernel psi^(-|x - z| / columns)",
}


def meaning(learner: str, setting: str) -> str:
    """What a setting of a learner means; nothing if it is not one of okbench's."""
    return OF_LEARNERS.get((learner, setting)) or MEANINGS.get(setting, "")
