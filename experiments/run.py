"""Run a cell, or a sweep of cells.

    python -m experiments.run dataset=encyclopedia method=bm25
    python -m experiments.run -m dataset=encyclopedia,musique method=bm25,dense,psi
    python -m experiments.run experiment=demo

Exit codes: 0 everything ran, 1 some of it failed, 2 the configuration was refused.
"""

from __future__ import annotations

import logging
import os
import re
import sys
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.errors import HydraException
from omegaconf import DictConfig
from omegaconf.errors import OmegaConfBaseException

from experiments.cell import Cell, run_cell
from experiments.complaints import CONF, explained
from experiments.compose import masked, run_from, unused
from experiments.outcome import note_outcome
from psi.errors import PsiError

log = logging.getLogger(__name__)


def main() -> None:
    """The command line: configuration errors end as one sentence and exit code 2, never as a traceback."""
    os.environ.setdefault("PSI_RUN_ID", f"{datetime.now():%Y-%m-%d_%H-%M-%S}-{os.getpid()}")
    os.environ["HYDRA_FULL_ERROR"] = "1"  # Hydra would print and exit by itself; its errors are explained here
    try:
        _job()
    except (HydraException, OmegaConfBaseException, PsiError) as error:
        sys.stderr.write(f"{explained(error, sys.argv[1:])}\n")
        raise SystemExit(2) from None


@hydra.main(version_base="1.3", config_path=str(CONF), config_name="config")
def _job(config: DictConfig) -> None:
    choices = HydraConfig.get().runtime.choices
    dataset, method = str(choices["dataset"]), str(choices["method"])
    try:
        cell = _run(config, dataset)
    except (PsiError, OmegaConfBaseException) as error:  # refused before it began: the sweep's other jobs still run
        log.error("%s on %s: %s%s", method, dataset, error, _file_of(error, choices))
        cell = Cell(dataset, method, 0, "", "failed", f"{type(error).__name__}: {error}")
    note_outcome(Path(HydraConfig.get().runtime.output_dir), str(config.store), cell)


def _run(config: DictConfig, dataset: str) -> Cell:
    run = run_from(config)
    given = {override.lstrip("+~").split("=")[0] for override in HydraConfig.get().overrides.task}
    for key in sorted(given & set(unused(config))):
        log.warning("%s=... has no effect: method %s with reader %s does not use it", key, run.method.name, run.reader)
    return run_cell(run, dataset, masked(config))


def _file_of(error: Exception, choices: Mapping[str, str | None]) -> str:
    """The configuration file of the group that an error speaks of, if it does."""
    group = re.match(r"(?:unknown setting ')?(\w+)[.:]", str(error))
    if group is None or choices.get(group[1]) is None:
        return ""
    return f" (conf/{group[1]}/{choices[group[1]]}.yaml, or the command line)"


if __name__ == "__main__":
    main()
