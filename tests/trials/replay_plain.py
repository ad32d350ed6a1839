"""What the plain loops of benchmarks/plain make of a record."""

from __future__ import annotations

import numpy as np

from benchmarks.plain import (
    baselines,
    bsgd,
    dualsgd,
    expansions,
    isolation,
    many_kernels,
    maps,
    rrf,
    table1,
)
from okbench.learners.numeric.rules.tvm_machine import RIDGE

LOOPS = {
    "Perceptron": expansions.perceptron,
    "OGD": expansions.ogd,
    "Norma": expansions.norma,
    "RBP": expansions.rbp,
    "Forgetron": expansions.forgetron,
    "Projectron": expansions.projectron,
    "Projectron++": expansions.projectron,
    "BPA-S": expansions.bpas,
    "BOGD": expansions.bogd,
    "FOGD": maps.fogd,
    "NOGD": maps.nogd,
    "BudgetPerceptron": table1.budget_perceptron,
    "BPA-P": table1.bpap,
    "BPA-NN": table1.bpann,
    "TVM": table1.tvm,
    "RRF": rrf.rrf,
    "DualSGD": dualsgd.dualsgd,
    "BSGD-M": bsgd.bsgd,
    "BSGD-R": bsgd.bsgd,
    "IK-OGD": isolation.ik_ogd,
    "IK-OGD-dual": isolation.ik_dual,
    "LaplacianOGD": isolation.laplacian_ogd,
    "LaplacianNOGD": isolation.laplacian_nogd,
    "Raker": many_kernels.raker,
    "AdaRaker": many_kernels.adaraker,
    "OMKL": many_kernels.omkl,
    "OMKR": many_kernels.omkl,
    "OMKC": many_kernels.omkl,
    "RBF": many_kernels.rbf,
    "FOGD-ORF": maps.fogd,
    "Previous": baselines.previous,
    "Constant": baselines.constant,
}
UNTOLD = {  # what the loop of a learner does not ask for
    "Norma": ("task", "n_columns"),
    "TVM": ("task", "n_columns"),
    "RRF": ("n_columns",),
    "BSGD-M": ("task",),
    "BSGD-R": ("task",),
    **dict.fromkeys(("IK-OGD", "IK-OGD-dual", "LaplacianOGD", "LaplacianNOGD"), ("task",)),
    "Raker": ("n_columns",),
    "AdaRaker": ("n_columns",),
    "OMKL": ("n_columns",),
    "OMKR": ("n_columns",),
    "OMKC": ("n_columns",),
    **dict.fromkeys(("Previous", "Constant"), ("task",)),
}


MANY = ("Raker", "AdaRaker", "OMKL", "OMKR", "OMKC")


def plain_scores(told):
    """Scores before each row was learned, of a record with its numbers inline: rows × columns."""
    X, y = (np.array(told["rows"][name], dtype=float)[told["order"]] for name in ("X", "y"))
    several = told["task"] == "multiclass"
    targets = np.searchsorted(told["classes"], y) if several else y
    name, n_columns = told["learner"], len(told["classes"]) if several else 1
    given = {"task": told["task"], "n_columns": n_columns}
    given = {key: value for key, value in given.items() if key not in UNTOLD.get(name, ())}
    given |= arguments(name, told["settings"], told.get("draws", {}), X.shape[1], n_columns)
    if name == "FOGD-ORF":
        assert given.pop("directions") == "orthogonal"
        kernel, width = [given.pop("kernel")], [given.pop("width")]
        named = told["draws"]["named"]
        given["frequencies"] = drawn_frequencies(named, kernel, width, given.pop("components"))[0].T
    if name in MANY:
        given = of_many(name, given, told["draws"].get("named", {}) if "draws" in told else {})
    found = LOOPS[name](X, targets, **given)
    return found[0] if isinstance(found, tuple) else found


def arguments(name, settings, draws, n_features, n_columns):
    """The settings and draws of a record as the loop of its learner takes them."""
    given = {key: np.inf if value == "Infinity" else value for key, value in settings.items()}
    given |= {key: value for key, value in draws.items() if key == "uniforms"}
    if name in ("FOGD", "DualSGD"):
        del given["components"]
        # DualSGD's kernel is of that width too
        width = given["width"] if name == "DualSGD" else given.pop("width")
        given["frequencies"] = np.array(draws["normals"]) / width
    if name == "NOGD":
        assert (given.pop("switch"), given.pop("flush")) == ("reference", 0)
    if name == "Forgetron":
        assert given.pop("root") == "reference"
    if name == "Projectron++":
        given["on_margin"] = True
    if name in ("BPA-P", "BPA-NN"):
        del given["guard"]  # against rows met twice, which these are not
    if name == "TVM":
        given |= {"accuracy": 0.01 * given.pop("tolerance"), "ridge": RIDGE}
    if given.get("loss") in ("l1", "l2"):
        given["epsilon"] = 0.0
    if name == "RRF":
        given |= drawn_by_rrf(given.pop("components"), draws, n_features, n_columns)
        given["log_scales"] = np.full(n_features, -np.log(given.pop("width")))
    if name == "DualSGD":
        assert not given.pop("squared_width")
    if name.startswith("IK-OGD"):
        named = draws["named"]
        given["permutations"] = [np.array(each) for each in named["samples"]["permutation"]]
        given["uniforms"] = np.ravel(named.get("trees", {}).get("uniforms", []))
        assert (given.pop("product", "indexed"), given.pop("library")) == ("indexed", "numpy")
    if name.startswith("BSGD"):
        assert given.pop("search", "golden") == "golden"
        given["merging"] = name == "BSGD-M"
    return given


def drawn_by_rrf(components, draws, n_features, n_columns):
    """Start weights (columns × 2 components) and noise: see "Replaying a run" in docs/rrf.md."""
    normals = np.array(draws["normals"])
    first = normals[: 2 * n_columns].reshape(2 * components, n_columns)
    return {"weights": 0.01 * first.T, "noise": normals[2 * n_columns + n_features :]}


def of_many(name, given, named):
    """The arguments of a learner with several kernels; `named` are its draws."""
    widths, kernels = given.pop("widths"), given.pop("kernels")
    kernels = kernels * len(widths) if len(kernels) == 1 else kernels
    if name in ("Raker", "AdaRaker"):
        assert (given.pop("form"), given.pop("directions")) == ("paper", "orthogonal")
        frequencies = drawn_frequencies(named, kernels, widths, given.pop("components"))
        return {**given, "frequencies": frequencies}
    task = given.pop("task")
    given["loss"] = "mistake" if name == "OMKC" else "squared"
    if name == "OMKL":
        given["keep"] = 1.0 - given["step"] * given.pop("decay")
        if given["weight_step"] is None:
            given["weight_step"] = given["step"]
        if task == "regression":
            given["step"] *= 2.0
        else:
            given["loss"] = "logistic"
    else:
        given["weight_step"] = -np.log(given.pop("discount"))
    if "kernels" in named:
        uniforms = np.concatenate(named["kernels"]["uniforms"])
        given["uniforms"] = uniforms.reshape(-1, len(widths) + 1)
    return {**given, "kernels": kernels, "widths": widths}


def drawn_frequencies(named, kernels, widths, components):
    """Orthogonal directions times lengths, kernel by kernel: see "Replaying a run" of
    docs/raker.md."""
    matrices, lengths = named["directions"]["orthogonal"], named["lengths"]["normals"]
    each = len(matrices) // len(widths)
    mixture = {kind: iter(drawn) for kind, drawn in named.get("mixture", {}).items()}
    found = []
    for p, (kernel, width) in enumerate(zip(kernels, widths, strict=True)):
        directions = np.vstack(matrices[p * each : (p + 1) * each])[:components]
        radii = np.linalg.norm(lengths[p], axis=1)
        if kernel == "laplacian":
            radii /= np.abs(next(mixture["normals"])[0])
        if kernel == "cauchy":
            radii *= np.sqrt(-2.0 * np.log(1.0 - np.array(next(mixture["uniforms"]))))
        found.append(directions * radii[:, None] / width)
    return np.array(found)
