"""okbench claims: test what the papers claim."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from okbench.cli import options

EPILOG = """\b
Examples:
  okbench claims                   every claim of every paper
  okbench claims lsokl --figures   the claims of one paper, dataset by dataset
  okbench claims lsokl/claim2      one claim
  okbench claims --learner FOGD    the claims about a learner
  okbench claims lsokl --printed   judged by the paper's own tables
"""


@click.command(epilog=EPILOG)
@click.argument("which", metavar="[PAPER|CLAIM]", required=False)
@click.option("--learner", help="Only claims that name this learner.")
@click.option("--dataset", help="Only claims about this dataset.")
@click.option("--figures", is_flag=True, help="Show the numbers of every dataset.")
@click.option(
    "--printed", is_flag=True, help="Judge by the numbers that the paper prints, not by outcomes."
)
@options.trials_and_seed
@options.text_or_json
@click.option(
    "--results",
    type=options.PATH,
    help="Folder of stored outcomes.  [default: runs or the project's baselines, table by table,"
    " whichever holds more trials]",
)
def claims(
    which: str | None,
    learner: str | None,
    dataset: str | None,
    figures: bool,
    printed: bool,
    trials: int | None,
    seed: int,
    form: str,
    results: Path | None,
) -> None:
    """Test the claims of a PAPER, one CLAIM, or all claims, on stored outcomes.

    This runs nothing.
    """
    from okbench.base.shipped import shipped
    from okbench.learners.registry import versions
    from okbench.reports.claims import claim_evidence
    from okbench.reports.claims.judge import settle_claim
    from okbench.reports.claims.sources import Outcomes, chosen_claims
    from okbench.reports.claims.text import claims_json, claims_text
    from okbench.reports.results_paths import RUNS
    from okbench.reports.tables.render import written
    from okbench.trials.plan.options import Options

    places = [results] if results else [RUNS, shipped("results")]
    outcomes = Outcomes(places, Options(trials=trials, seed=seed), versions())
    judge = claim_evidence.printed if printed else claim_evidence.measured_evidence
    settled = [
        settle_claim(claim, outcomes.report, judge, outcomes.table)
        for claim in chosen_claims(which, learner, dataset)
    ]
    used = {} if printed else outcomes.used
    text = claims_json(settled, used) if form == "json" else claims_text(settled, figures, used)
    click.echo(written(text, sys.stdout.encoding), nl=False)
