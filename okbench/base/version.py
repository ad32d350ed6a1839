"""The version of okbench, apart from the package's own module, whose attributes are learners."""

__version__ = "0.1.0"
