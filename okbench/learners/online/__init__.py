"""The online learners: one algorithm, or one family, in a file; its rule stands below its class."""
