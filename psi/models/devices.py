"""Where models run and in which number format."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import torch

Dtype = Literal["auto", "float32", "bfloat16", "float16"]


def resolved_device(device: str) -> str:
    """`auto` becomes `cuda` where PyTorch sees a GPU and `cpu` elsewhere; other names pass through."""
    if device != "auto":
        return device
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


def resolved_dtype(dtype: Dtype, device: str, *, on_cpu: Dtype) -> str:
    """The number format behind `auto`: bfloat16 on a GPU that has it (float16 otherwise), `on_cpu` on a CPU."""
    if dtype != "auto":
        return dtype
    place = resolved_device(device)
    if not place.startswith("cuda"):
        return on_cpu
    import torch

    return "bfloat16" if torch.cuda.is_bf16_supported() else "float16"


def torch_dtype(name: str) -> torch.dtype:
    """The PyTorch type of that name."""
    import torch

    return {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}[name]
