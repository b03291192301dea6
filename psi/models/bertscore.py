"""BERTScore of answers: tokens of prediction and reference matched by the cosines of their states in an encoder.

    metrics=[f1,psi.models.bertscore:MINILM]

Scores of different encoders cannot be compared. `ROBERTA_LARGE` is the one that published English numbers use, without
rescaling; for another, name a `Metric` of `bertscore(...)` in a module of your own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from psi.metrics.normalise import scorable
from psi.metrics.registry import Metric
from psi.models.devices import resolved_device
from psi.models.sentence_transformer import BUNDLED, bundled_folder

if TYPE_CHECKING:
    import torch


def bertscore(
    model: str = BUNDLED, *, layer: int = -1, revision: str | None = None, device: str = "auto"
) -> Callable[[str, Sequence[str]], float | None]:
    """F of BERTScore, the best over the references; None without gold answers, 0 for an answer without a token.

    Precision: the mean over the answer's tokens of the largest cosine with one of the reference; recall: the same the other way
    round; special tokens left out, all tokens alike. Texts beyond the encoder's window are cut to it.
    Reference: Zhang et al., BERTScore (ICLR 2020), §3.

    layer: which hidden states, 0 being the embeddings.
    """

    def score(prediction: str, golds: Sequence[str]) -> float | None:
        references = scorable(golds)
        if not references:
            return None
        encoder = _encoder(model, revision, resolved_device(device))
        said, *wanted = (_states(encoder, text, layer) for text in (prediction, *references))
        return max(_f(said, gold) for gold in wanted)

    return score


MINILM = Metric("bertscore_minilm", "BERTScore F (MiniLM)", "answer", bertscore())
ROBERTA_LARGE = Metric(
    "bertscore_roberta", "BERTScore F (RoBERTa-large)", "answer", bertscore("roberta-large", layer=17)
)


@cache
def _encoder(model: str, revision: str | None, device: str) -> tuple[Any, Any]:
    """Tokeniser and network, loaded once a process."""
    from transformers import AutoModel, AutoTokenizer

    place = bundled_folder() if model == BUNDLED else model
    tokeniser = AutoTokenizer.from_pretrained(place, revision=revision)
    return tokeniser, AutoModel.from_pretrained(place, revision=revision).to(device).eval()


def _states(encoder: tuple[Any, Any], text: str, layer: int) -> torch.Tensor:
    """Unit states (t, d) of the text's own tokens."""
    import torch

    tokeniser, network = encoder
    length = min(tokeniser.model_max_length, network.config.max_position_embeddings)
    given = tokeniser(
        text, return_tensors="pt", truncation=True, max_length=length, return_special_tokens_mask=True
    ).to(network.device)
    own = given.pop("special_tokens_mask")[0] == 0
    with torch.inference_mode():
        states = network(**given, output_hidden_states=True).hidden_states[layer][0]
    return torch.nn.functional.normalize(states[own].float(), dim=1)


def _f(said: torch.Tensor, gold: torch.Tensor) -> float:
    if not len(said) or not len(gold):
        return 0.0
    cosines = said @ gold.T
    precision, recall = float(cosines.amax(1).mean()), float(cosines.amax(0).mean())
    return 2 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0
