"""The composed configuration for programs that are no Hydra application themselves."""

from __future__ import annotations

from collections.abc import Sequence

from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from omegaconf import DictConfig

from experiments.complaints import CONF


def composed(overrides: Sequence[str]) -> DictConfig:
    """What `python -m experiments.run OVERRIDES` would be given.

    Raises:
        HydraException: an override names something unknown (see `complaints.explained`).
    """
    GlobalHydra.instance().clear()
    with initialize_config_dir(str(CONF), version_base="1.3"):
        return compose("config", overrides=list(overrides))
