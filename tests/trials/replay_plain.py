"""What the plain loops of benchmarks/plain make of a record."""

from __future__ import annotations

import numpy as np

from benchmarks.plain import bsgd, dualsgd, expansions, isolation, maps, rrf, table1
from okbench.learners.compiled.rules.tvm_machine import RIDGE

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
}
UNTOLD = {  # what the loop of a learner does not ask for
    "Norma": ("task", "n_columns"),
    "TVM": ("task", "n_columns"),
    "RRF": ("n_columns",),
    "BSGD-M": ("task",),
    "BSGD-R": ("task",),
    **dict.fromkeys(("IK-OGD", "IK-OGD-dual", "LaplacianOGD", "LaplacianNOGD"), ("task",)),
}


def plain_scores(told):
    """Scores before each row was learned, of a record with its numbers inline: rows × columns."""
    X, y = (np.array(told["rows"][name], dtype=float)[told["order"]] for name in ("X", "y"))
    several = told["task"] == "multiclass"
    targets = np.searchsorted(told["classes"], y) if several else y
    name, n_columns = told["learner"], len(told["classes"]) if several else 1
    given = {"task": told["task"], "n_columns": n_columns}
    given = {key: value for key, value in given.items() if key not in UNTOLD.get(name, ())}
    given |= arguments(name, told["settings"], told.get("draws", {}), X.shape[1], n_columns)
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
