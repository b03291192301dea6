"""The state of a training, kept so that a killed one goes on exactly where it stood: weights, optimiser and position.

No random state is needed: the order of the examples follows from seed and epoch, and there is no dropout.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

FILE = "state.safetensors.log"  # ends as what the store takes for scratch and removes at the end


def save_state(
    folder: Path, step: int, network: torch.nn.Module, scalars: torch.Tensor, optimizer: torch.optim.AdamW
) -> None:
    """Write the state after `step` steps at once and whole."""
    import torch
    from safetensors.torch import save_file

    tensors = {f"network.{name}": value for name, value in network.state_dict().items()}
    tensors |= {"scalars": scalars.detach(), "step": torch.tensor(step)}
    for number, state in optimizer.state_dict()["state"].items():
        tensors |= {f"optimizer.{number}.{name}": value for name, value in state.items()}
    temporary = folder / f"{FILE}.tmp"
    save_file({name: value.contiguous().clone() for name, value in tensors.items()}, temporary)
    temporary.replace(folder / FILE)


def load_state(folder: Path, network: torch.nn.Module, scalars: torch.Tensor, optimizer: torch.optim.AdamW) -> int:
    """Put a kept state into place; returns the steps done, 0 where nothing is kept."""
    import torch
    from safetensors.torch import load_file

    if not (folder / FILE).exists():
        return 0
    tensors = load_file(folder / FILE)
    network.load_state_dict({n.removeprefix("network."): t for n, t in tensors.items() if n.startswith("network.")})
    with torch.no_grad():
        scalars.copy_(tensors["scalars"])
    state: dict[int, dict[str, torch.Tensor]] = {}
    for name, value in tensors.items():
        if name.startswith("optimizer."):
            _, number, key = name.split(".")
            state.setdefault(int(number), {})[key] = value
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})
    return int(tensors["step"])
