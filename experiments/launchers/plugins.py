"""Makes this project's launchers known to Hydra."""

from __future__ import annotations

import importlib
from pathlib import Path

PLUGINS = Path(__file__).resolve().parent / "hydra_plugins"


def offer_plugins() -> None:
    """Let Hydra find the launchers here: it looks for plugins in one namespace package, `hydra_plugins`, only."""
    path = importlib.import_module("hydra_plugins").__path__
    if str(PLUGINS) not in path:
        path.append(str(PLUGINS))
