"""Greedy replies of a causal language model: what prompts share is computed once, and all replies grow together.

A prompt is cut into pieces behind every end of a message, and each piece is one forward pass. Keys and values of a piece
are kept, so instructions, worked examples and a dialogue's earlier turns are not computed again. Then every reply grows
by one token a step, and the next prompt takes the place of a reply that has ended.

A reply does not depend on the others. Its prompt is worked on alone, its keys and values stand in a row of their own
from position 0 on, and on a CPU the matrix products of a step always have a multiple of `ROWS` rows, because their
rounding depends on the number of rows and not on what stands in the others.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from psi.models.forms import FormConstraint

if TYPE_CHECKING:
    import torch

ROWS = 32
"""A step's matrix products have a multiple of so many rows on a CPU."""
LONGEST_PIECE = 1024
"""Tokens of a prompt in one forward pass: its mask has this times the prompt's length."""
WIDTHS = 128
"""Attention of a step reads a multiple of so many positions."""
ATTENTION = "psi_rows"


class Request(NamedTuple):
    """Tokens of a prompt, and the form that its reply is held to."""

    prompt: list[int]
    constraint: FormConstraint | None


@dataclass
class _Reply:
    """A reply that grows: `number` of its request, its tokens so far."""

    number: int
    request: Request
    tokens: list[int] = field(default_factory=list)

    @property
    def position(self) -> int:
        """Of the last token."""
        return len(self.request.prompt) + len(self.tokens) - 1


class GreedyWriter:
    """Writes replies with one network, loaded with rotary positions and full attention (see `can_write`).

    Args:
        network: a causal language model of the transformers library.
        ends: tokens that end a message.
        limit: most tokens of a reply.
        penalty: divides the scores of tokens that occurred already (1: off).
        batch_size: replies that grow together.
        kept_tokens: prompt tokens whose keys and values are kept for prompts that begin alike.
    """

    def __init__(
        self, network: Any, *, ends: frozenset[int], limit: int, penalty: float, batch_size: int, kept_tokens: int
    ):
        _register_attention()
        network.set_attn_implementation(ATTENTION)
        self._network, self._ends, self._limit, self._penalty = network, ends, limit, penalty
        self._batch_size, self._kept = batch_size, _Kept(kept_tokens)

    def write(self, requests: Sequence[Request]) -> Iterator[tuple[int, list[int]]]:
        """Every reply's tokens with the number of its request, as soon as it has ended; the end itself is left out."""
        import torch

        waiting = deque(_Reply(number, request) for number, request in enumerate(requests))
        width = max(len(request.prompt) for request in requests) + self._limit
        rows, growing = _Rows(min(self._batch_size, len(requests)), width), list[_Reply]()
        while waiting or growing:
            with torch.inference_mode():  # never around a yield: the mode would hold for the caller
                if waiting and len(growing) < self._batch_size:
                    growing.append(waiting.popleft())
                    scores, first = self._read(growing[-1].request.prompt, rows, len(growing) - 1), len(growing) - 1
                else:
                    scores, first = self._step(growing, rows), 0
                ended = self._grown(growing, first, scores, rows)
            yield from ((reply.number, reply.tokens) for reply in ended)

    def _read(self, prompt: Sequence[int], rows: _Rows, row: int) -> torch.Tensor:
        """Put a prompt into a row; (1, vocabulary) scores of the token after it."""
        for start, end in pieces(prompt, self._ends):
            known = self._kept.find(prompt[:end]) if end < len(prompt) else None
            if known is not None:
                rows.put(row, start, known)
                continue
            logits = self._piece(prompt[start:end], start, rows, row)
            if end < len(prompt):
                self._kept.keep(prompt[:end], rows.part(row, start, end))
        return logits

    def _piece(self, tokens: Sequence[int], start: int, rows: _Rows, row: int) -> torch.Tensor:
        import torch

        end = start + len(tokens)
        places = torch.arange(start, end, device=self._network.device)
        hidden = torch.arange(end, device=self._network.device) > places[:, None]
        logits: torch.Tensor = self._network(
            input_ids=torch.tensor([list(tokens)], device=self._network.device),
            position_ids=places[None],
            attention_mask=self._mask(hidden[None, None]),
            cache=_Piece(rows, row, start, end),
            use_cache=True,
            logits_to_keep=1,
        ).logits
        return logits[:, -1]

    def _step(self, replies: Sequence[_Reply], rows: _Rows) -> torch.Tensor:
        """(n, vocabulary) scores of the next token of each reply."""
        import torch

        device = self._network.device
        filled = -len(replies) % ROWS if device.type == "cpu" else 0
        places = torch.tensor([reply.position for reply in replies], device=device)
        width = min(-(-(int(places.max()) + 1) // WIDTHS) * WIDTHS, rows.width)
        hidden = torch.arange(width, device=device) > places[:, None]
        tokens = torch.tensor([reply.tokens[-1] for reply in replies] + [0] * filled, device=device)
        logits: torch.Tensor = self._network(
            input_ids=tokens[:, None],
            position_ids=torch.nn.functional.pad(places, (0, filled))[:, None],
            attention_mask=self._mask(hidden[:, None, None]),
            cache=_Step(rows, places, width),
            use_cache=True,
        ).logits
        return logits[: len(replies), -1]

    def _mask(self, hidden: torch.Tensor) -> torch.Tensor:
        # additive, because attention kernels would convert a boolean mask anew in every layer
        return hidden.new_zeros(hidden.shape, dtype=self._network.dtype).masked_fill_(hidden, float("-inf"))

    def _grown(self, replies: list[_Reply], first: int, logits: torch.Tensor, rows: _Rows) -> list[_Reply]:
        """Add a token to each reply from `first` on. Those that end leave the list, and its last one takes their row."""
        chosen, ended = self._chosen(replies[first:], logits.float()), []
        for place in reversed(range(first, len(replies))):
            reply, token = replies[place], chosen[place - first]
            if token not in self._ends:
                reply.tokens.append(token)
            if token in self._ends or len(reply.tokens) == self._limit:
                last = replies.pop()
                if last is not reply:
                    replies[place] = last
                    rows.move(len(replies), place)
                ended.append(reply)
            elif reply.request.constraint is not None:
                reply.request.constraint.accept(token)
        return ended

    def _chosen(self, replies: Sequence[_Reply], scores: torch.Tensor) -> list[int]:
        import torch

        for row, reply in zip(scores, replies, strict=True):
            if self._penalty != 1:
                seen = torch.tensor([*reply.request.prompt, *reply.tokens], device=row.device).unique()  # type: ignore[no-untyped-call]
                row[seen] = torch.where(row[seen] < 0, row[seen] * self._penalty, row[seen] / self._penalty)
            if reply.request.constraint is not None:
                allowed = torch.from_numpy(reply.request.constraint.allowed(len(row)))
                row.masked_fill_(~allowed.to(row.device), float("-inf"))
        return [int(token) for token in scores.argmax(dim=-1).tolist()]


def can_write(network: Any) -> bool:
    """Whether every layer of a network attends to all earlier positions, which are given to it as rotations."""
    config = network.config.get_text_config()
    kinds = getattr(config, "layer_types", None)
    full = set(kinds) == {"full_attention"} if kinds else getattr(config, "sliding_window", None) is None
    return full and bool(getattr(config, "rope_parameters", None)) and not network.config.is_encoder_decoder


def pieces(prompt: Sequence[int], ends: frozenset[int]) -> Iterator[tuple[int, int]]:
    """Where the pieces of a prompt begin and end: behind each end of a message, none longer than `LONGEST_PIECE`.

    They depend on the prompt alone, and so does the rounding of what is computed from them.
    """
    cuts = [place + 1 for place, token in enumerate(prompt[:-1]) if token in ends]
    for start, end in zip([0, *cuts], [*cuts, len(prompt)], strict=True):
        for first in range(start, end, LONGEST_PIECE):
            yield first, min(first + LONGEST_PIECE, end)


_KeyValues = list[tuple["torch.Tensor", "torch.Tensor"]]


class _Kept:
    """Keys and values of pieces by all tokens up to their ends; those not used for longest go first."""

    def __init__(self, tokens: int):
        self._most, self._held = tokens, 0
        self._found: OrderedDict[tuple[int, ...], _KeyValues] = OrderedDict()

    def find(self, tokens: Sequence[int]) -> _KeyValues | None:
        key = tuple(tokens)
        if key in self._found:
            self._found.move_to_end(key)
        return self._found.get(key)

    def keep(self, tokens: Sequence[int], values: _KeyValues) -> None:
        self._found[tuple(tokens)] = values
        self._held += values[0][0].shape[1]
        while self._held > self._most:
            _, gone = self._found.popitem(last=False)
            self._held -= gone[0][0].shape[1]


class _Rows:
    """Keys and values of all layers: (rows, heads, width, size) each, made when the first ones come."""

    def __init__(self, rows: int, width: int):
        self.rows, self.width = rows, -(-width // WIDTHS) * WIDTHS
        self.layers: list[tuple[torch.Tensor, torch.Tensor]] = []

    def layer(self, number: int, keys: torch.Tensor, values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        if number == len(self.layers):
            # zeros: positions without a token have no weight, but weight 0 times NaN would be NaN
            made = [new.new_zeros((self.rows, new.shape[1], self.width, new.shape[3])) for new in (keys, values)]
            self.layers.append((made[0], made[1]))
        return self.layers[number]

    def part(self, row: int, start: int, end: int) -> _KeyValues:
        return [(keys[row, :, start:end].clone(), values[row, :, start:end].clone()) for keys, values in self.layers]

    def put(self, row: int, start: int, part: _KeyValues) -> None:
        for number, (keys, values) in enumerate(part):
            for held, new in zip(self.layer(number, keys[None], values[None]), (keys, values), strict=True):
                held[row, :, start : start + new.shape[1]] = new

    def move(self, source: int, target: int) -> None:
        for held in (tensor for layer in self.layers for tensor in layer):
            held[target] = held[source]


@dataclass(frozen=True)
class _Piece:
    """What a network sees as its cache while a piece of one prompt is read."""

    rows: _Rows
    row: int
    start: int
    end: int

    def update(
        self, keys: torch.Tensor, values: torch.Tensor, layer: int, *_: Any, **__: Any
    ) -> tuple[torch.Tensor, ...]:
        held = self.rows.layer(layer, keys, values)
        for tensor, new in zip(held, (keys, values), strict=True):
            tensor[self.row, :, self.start : self.end] = new[0]
        return tuple(tensor[self.row : self.row + 1, :, : self.end] for tensor in held)


@dataclass(frozen=True)
class _Step:
    """What a network sees as its cache while each reply grows by a token."""

    rows: _Rows
    places: torch.Tensor
    width: int

    def update(
        self, keys: torch.Tensor, values: torch.Tensor, layer: int, *_: Any, **__: Any
    ) -> tuple[torch.Tensor, ...]:
        import torch

        count = len(self.places)
        row = torch.arange(count, device=keys.device)
        held = self.rows.layer(layer, keys, values)
        for tensor, new in zip(held, (keys, values), strict=True):
            tensor[row, :, self.places] = new[:count, :, 0]
        return tuple(tensor[:count, :, : self.width] for tensor in held)


def _register_attention() -> None:
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.masking_utils import sdpa_mask

    AttentionInterface.register(ATTENTION, _attention)
    AttentionMaskInterface.register(ATTENTION, sdpa_mask)


def _attention(
    module: Any, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, attention_mask: Any, **settings: Any
) -> tuple[torch.Tensor, None]:
    """Attention of the rows that have keys; the others are there for the shape of the matrix products alone."""
    import torch
    from transformers.integrations.sdpa_attention import sdpa_attention_forward

    rows = key.shape[0]
    found, _ = sdpa_attention_forward(module, query[:rows], key, value, attention_mask, **settings)
    return torch.nn.functional.pad(found, (0, 0, 0, 0, 0, 0, 0, query.shape[0] - rows)), None
