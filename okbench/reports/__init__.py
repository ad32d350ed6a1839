"""What was measured, for readers. `load` reads a table with all its outcomes once; everything else
takes what it gives. Reports are made of files and YAML: no learner is imported, nothing is run.
"""

__all__ = [
    "claims",
    "compare",
    "croissant",
    "figures",
    "guard",
    "line_styles",
    "load",
    "numbers",
    "pages",
    "results_paths",
    "site",
    "statistics",
    "tables",
]
