"""How a learner looks in every chart and picture: one colour and one marker, whatever the page.

The choice depends on the name alone. Learners that papers compare in one table have different
colours as far as the ten colours suffice; the others share a colour, and no two of the names below
share colour and marker. Colours are Okabe and Ito's without their yellow, and three more, which
colour-blind readers can distinguish; each has a lighter form for dark pages. In grey print the
marker and the dashes remain.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from zlib import crc32

COLOURS = (  # on a light page, on a dark one
    ("#1c2127", "#f2f4f6"),
    ("#0072b2", "#4aa8e0"),
    ("#d55e00", "#f0833a"),
    ("#009e73", "#1fc794"),
    ("#c0619a", "#e08fc0"),
    ("#3a9fd8", "#8ad0f7"),
    ("#d08f00", "#f2b632"),
    ("#882255", "#d96a98"),
    ("#7f7f7f", "#a5a5a5"),
    ("#85852b", "#c0c060"),
)
MARKERS = (
    "circle", "square", "up", "diamond", "down", "star", "right", "hexagon", "cross", "left",
)  # fmt: skip
DASHES = ((), (7, 3), (7, 2, 1.5, 2), (2, 2), (10, 3, 2, 3))  # lengths drawn and left out, in turn

# The last digit is the colour. Figures with a line for each dataset have names of datasets.
_NUMBERS = {
    "Perceptron": 0, "OGD": 1, "RBP": 2, "Forgetron": 3, "Projectron": 4,
    "Projectron++": 5, "BPA-S": 6, "BOGD": 7, "FOGD": 8, "NOGD": 9,
    "BudgetPerceptron": 10, "BPA-P": 11, "BSGD-M": 12, "BSGD-R": 13, "BSGD": 14,
    "Norma": 15, "TVM": 16, "BKM": 17, "RKS": 18, "OMKL": 19,
    "LIBSVM": 20, "LLSVM": 21, "BKM-median": 22, "FKL": 23, "Raker": 24,
    "BPA-NN": 25, "MultiRRF-A": 26, "IK-OGD": 27, "RBF 0.1": 28, "LaplacianOGD": 29,
    "DualSGD": 30, "RRF-ε": 31, "RBF 1": 32, "RBF 10": 33, "OMKC": 34,
    "RRF-ℓ1": 35, "RRF-ℓ2": 36, "OMKR": 37, "FOGD-ORF": 38, "LaplacianNOGD": 39,
    "IK-SVM": 40, "RRF-Hinge": 41, "MultiRRF-V": 42, "ChiSquare-SVM": 43, "RBF": 44,
    "RRF-Logit": 45, "LIBLINEAR": 46, "AdaRaker": 55, "RRF": 51, "RRF-batch": 61,
    "IK-OGD-dual": 57, "orthogonal": 71, "independent": 72,
    "Raker, plain features": 54, "Raker, small step": 64, "Raker, no decay": 74,
    "OMKL, no decay": 59, "OMKL, budget 100": 69, "OMKL, sampled": 79,
    "AdaRaker, step 20": 65, "AdaRaker, released": 75,
    "RRF ε=0.1": 81, "RRF ε=0.2": 82, "RRF ε=0.3": 83,
    "dna": 90, "mnist": 91, "satimage": 92, "usps": 93, "letter": 94,
    "shuttle": 95, "acoustic": 96, "covtype": 97, "poker": 98,
}  # fmt: skip
_SPELLINGS = {"BPAS": "BPA-S", "Budget Perceptron": "BudgetPerceptron"}
_VARIANT = re.compile(r"\s*[\[(,].*", re.DOTALL)  # `FOGD[width=2]`, `OMKL, sampled`


@dataclass(frozen=True)
class LineStyle:
    """The look of a line and its points: places in COLOURS, MARKERS and DASHES; every other marker
    is an outline."""

    colour: int
    marker: int
    dash: int
    hollow: bool


def style_of(label: str) -> LineStyle:
    """The look of a learner. A variant has the colour of its learner and a marker of its own;
    learners that are not known here have what a checksum of their name gives.
    """
    name = _SPELLINGS.get(label, label)
    number = _NUMBERS.get(name)
    if number is not None:
        shape = number // 10 + number
        return LineStyle(
            number % 10, shape % len(MARKERS), shape % len(DASHES), hollow=bool(shape % 2)
        )
    family = _VARIANT.sub("", name)
    checksum = crc32(name.encode("utf-8", "replace"))
    return LineStyle(
        style_of(family).colour if family and family != name else checksum // 100 % len(COLOURS),
        checksum % len(MARKERS),
        checksum // 10 % len(DASHES),
        hollow=bool(checksum // 50 % 2),
    )
