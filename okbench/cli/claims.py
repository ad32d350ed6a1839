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
  okbench claims lsokl --printed   judged by the paper's own tables
"""


@click.command(epilog=EPILOG)
@click.argument("paper", required=False)
@click.option("--figures", is_flag=True, help="Show the numbers of every dataset.")
@click.option(
    "--printed", is_flag=True, help="Judge by the numbers that the paper prints, not by outcomes."
)
@options.trials_and_seed
@options.text_or_json
@options.results
def claims(
    paper: str | None,
    figures: bool,
    printed: bool,
    trials: int | None,
    seed: int,
    form: str,
    results: Path,
) -> None:
    """Test the claims of PAPER, or of every paper, on stored outcomes. This runs nothing."""
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
