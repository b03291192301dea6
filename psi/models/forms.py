"""The form of a reply as a regular expression, as a grammar, as a JSON schema, and as a constraint on a transformers model."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from psi.errors import ConfigError, InputError
from psi.models.protocols import Form

if TYPE_CHECKING:
    import torch
    from llguidance import LLMatcher, LLTokenizer

THOUGHT_CHARACTERS_PER_TOKEN = 2
"""A thought has at most so many characters for each token of the whole reply: about half of it is left."""


def pattern(form: Form, max_tokens: int) -> str:
    """A regular expression for whole replies, in the syntax that all engines share.

    >>> pattern(Form(("Answer", "Retrieve")), 100)
    'Thought: [^ \\\\n][^\\\\n]{0,199}\\\\n(Answer|Retrieve): [^ \\\\t\\\\r\\\\n*`][^\\\\n]*'
    """
    longest = THOUGHT_CHARACTERS_PER_TOKEN * max_tokens - 1
    return rf"Thought: [^ \n][^\n]{{0,{longest}}}\n({'|'.join(form.directives)}): [^ \t\r\n*`][^\n]*"


def form_of(regex: str, max_tokens: int) -> Form:
    """The form that `pattern` makes this regular expression of.

    Raises:
        InputError: it is no such expression, or one for replies of another length.
    """
    found = re.search(r"\\n\(([^()]+)\): ", regex)
    form = Form(tuple(found[1].split("|")) if found else ())
    if pattern(form, max_tokens) != regex:
        raise InputError(
            f"regex={regex[:200]!r} is not the form of this project's readers and agents for {max_tokens} tokens."
        )
    return form


def grammar(form: Form, max_tokens: int) -> str:
    """The same in GBNF, the grammar notation of llama.cpp."""
    longest = THOUGHT_CHARACTERS_PER_TOKEN * max_tokens - 1
    directives = " | ".join(f'"{directive}"' for directive in form.directives)
    return rf'root ::= "Thought: " [^ \n] [^\n]{{0,{longest}}} "\n" ({directives}) ": " [^ \t\r\n*`] [^\n]*'


def schema(form: Form) -> dict[str, Any]:
    """A JSON schema for the same content, within what hosted services accept (flat, all fields required)."""
    return {
        "type": "object",
        "properties": {
            "thought": {"type": "string"},
            "directive": {"type": "string", "enum": list(form.directives)},
            "text": {"type": "string"},
        },
        "required": ["thought", "directive", "text"],
        "additionalProperties": False,
    }


def from_json(reply: str) -> str:
    """The lines that a reply after the schema stands for; any other reply (a cut one, say) as it is."""
    try:
        found = json.loads(reply)
        thought, directive, text = (" ".join(str(found[key]).split()) for key in ("thought", "directive", "text"))
    except (ValueError, TypeError, KeyError, RecursionError):
        return reply
    return f"Thought: {thought}\n{directive}: {text}"


class FormConstraint:
    """Which tokens can still lead one reply to its form."""

    def __init__(self, vocabulary: LLTokenizer, form: Form, max_tokens: int):
        self._matcher = _matcher(vocabulary, form, max_tokens)

    def allowed(self, size: int) -> NDArray[np.bool_]:
        """(size,) one truth a token; all are true after the end."""
        if self._matcher.is_stopped():
            return np.ones(size, dtype=np.bool_)
        return _bits(self._matcher.compute_bitmask(), size)

    def accept(self, token: int) -> None:
        """Go on with a token; what comes after the end is ignored."""
        if not self._matcher.is_stopped():
            self._matcher.consume_token(token)


class FormProcessor:
    """Lets `generate` choose only allowed tokens; a row without constraint is free.

    A logits processor of the transformers library: called with (n, t) tokens so far and (n, vocabulary) scores.
    """

    def __init__(self, constraints: Sequence[FormConstraint | None]):
        self._constraints, self._begun = constraints, False

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """The scores, those of forbidden tokens at minus infinity."""
        import torch

        allowed = np.ones(tuple(scores.shape), dtype=np.bool_)
        for row, constraint in enumerate(self._constraints):
            if constraint is None:
                continue
            if self._begun:
                constraint.accept(int(input_ids[row, -1]))
            allowed[row] = constraint.allowed(scores.shape[1])
        self._begun = True
        return scores.masked_fill(~torch.from_numpy(allowed).to(scores.device), float("-inf"))


def _bits(mask: bytes, size: int) -> NDArray[np.bool_]:
    """(size,) one truth a token; a network's table may be longer than its tokeniser's vocabulary, or padded."""
    bits = np.unpackbits(np.frombuffer(mask, dtype=np.uint8), bitorder="little")[:size]
    return np.pad(bits, (0, size - len(bits))).astype(np.bool_)


def vocabulary_of(tokenizer: Any) -> LLTokenizer:
    """A transformers tokeniser as llguidance needs it; takes a second, so it is kept by the caller.

    Raises:
        ConfigError: llguidance is not installed.
    """
    try:
        from llguidance.hf import from_tokenizer
    except ImportError:
        raise ConfigError(
            "constrain=true needs the package llguidance: pip install 'llguidance>=1.9,<2', or set llm.constrain=false."
        ) from None
    return from_tokenizer(tokenizer)


def _matcher(vocabulary: LLTokenizer, form: Form, max_tokens: int) -> LLMatcher:
    from llguidance import LLMatcher

    return LLMatcher(vocabulary, LLMatcher.grammar_from_regex(pattern(form, max_tokens)))
