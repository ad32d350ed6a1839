"""What the plain loops of benchmarks/plain make of a record."""

from __future__ import annotations

import numpy as np

from benchmarks.plain import expansions, maps

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
}


def plain_scores(told):
    """Scores before each row was learned, of a record with its numbers inline: rows × columns."""
    X, y = (np.array(told["rows"][name], dtype=float)[told["order"]] for name in ("X", "y"))
    several = told["task"] == "multiclass"
    targets = np.searchsorted(told["classes"], y) if several else y
    given = arguments(told["learner"], told["settings"], told.get("draws", {}))
    if told["learner"] != "Norma":
        given |= {"task": told["task"], "n_columns": len(told["classes"]) if several else 1}
    found = LOOPS[told["learner"]](X, targets, **given)
    return found[0] if isinstance(found, tuple) else found


def arguments(name, settings, draws):
    """The settings and draws of a record as the loop of its learner takes them."""
    given = {key: np.inf if value == "Infinity" else value for key, value in settings.items()}
    given |= {key: value for key, value in draws.items() if key == "uniforms"}
    if name == "FOGD":
        del given["components"]
        given["frequencies"] = np.array(draws["normals"]) / given.pop("width")
    if name == "NOGD":
        assert (given.pop("switch"), given.pop("flush")) == ("reference", 0)
    if name == "Forgetron":
        assert given.pop("root") == "reference"
    if name == "Projectron++":
        given["on_margin"] = True
    return given
