"""Reasoning that models write into their replies."""

from __future__ import annotations

import re

_THINKING = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL | re.IGNORECASE)


def without_thinking(text: str) -> str:
    """The reply without `<think>…</think>` blocks, closed or not, and without what stands before a lone `</think>`."""
    return _THINKING.sub("", text).rpartition("</think>")[2]
