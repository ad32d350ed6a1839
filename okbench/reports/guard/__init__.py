"""Guards of results: `bless` writes a baseline, `check` compares outcomes with it, `merge` puts
files together, `speed` judges seconds.
"""

__all__ = ["bless", "check", "check_text", "merge", "speed", "trial_diff"]
