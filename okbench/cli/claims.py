"""okbench claims: does what the papers say hold?"""

from __future__ import annotations

import sys
from pathlib import Path

import click

from okbench.cli.report import RESULTS

EPILOG = """\b
  okbench claims                   every claim of every paper
  okbench claims lsokl --figures   those of one, with what each dataset says
  okbench claims lsokl --printed   what the paper's own tables say to them
"""


@click.command(epilog=EPILOG)
@click.argument("paper", required=False)
@click.option("--figures", is_flag=True, help="Show what every dataset says.")
@click.option("--printed", is_flag=True, help="Hold the claims against what the paper prints.")
@click.option("--trials", type=int, help="This many row orders, not the tables' own number.")
@click.option("--seed", type=int, default=0, show_default=True, help="Outcomes of this seed.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text")
@RESULTS
def claims(
    paper: str | None,
    figures: bool,
    printed: bool,
    trials: int | None,
    seed: int,
    form: str,
    results: Path,
) -> None:
    """Hold what PAPER claims, or every paper, against stored outcomes. Runs nothing."""
    from okbench.learners.registry import versions
    from okbench.reports.claims import claim_evidence
    from okbench.reports.claims.claims_file import claims_of, papers_with_claims
    from okbench.reports.claims.judge import settle_claim
    from okbench.reports.claims.text import chosen_papers, claims_json, claims_text, reports_in
    from okbench.reports.tables.render import written
    from okbench.trials.plan.options import Options

    reports = reports_in(results, Options(trials=trials, seed=seed), versions())
    judge = claim_evidence.printed if printed else claim_evidence.measured
    settled = [
        settle_claim(claim, reports, judge)
        for name in chosen_papers(paper, papers_with_claims())
        for claim in claims_of(name)
    ]
    text = claims_json(settled) if form == "json" else claims_text(settled, figures)
    click.echo(written(text, sys.stdout.encoding), nl=False)
