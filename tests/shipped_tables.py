"""The tables that travel with okbench, each read once for all tests of a process."""

from __future__ import annotations

from functools import cache

from okbench.papers.table_catalogue import find as read

find = cache(read)
