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
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import BrokenExecutor
from datetime import datetime
from pathlib import Path

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.errors import HydraException
from omegaconf import DictConfig
from omegaconf.errors import OmegaConfBaseException

from experiments.cell import Cell, run_cell
from experiments.complaints import CONF, explained, is_about_groups
from experiments.compose import again, masked, run_from, unused
from experiments.deadline import STARTED
from experiments.launchers.plugins import offer_plugins
from experiments.outcome import JobOutcome, note_outcome
from experiments.plan import Plan, plan
from experiments.servers import check_servers
from experiments.trackers.report import tell
from psi.errors import ConfigError, LostWorkerError, PsiError, StoreError

log = logging.getLogger(__name__)
REFUSALS = (HydraException, OmegaConfBaseException, PsiError)


def main() -> None:
    """The command line: configuration errors end as one sentence and exit code 2, never as a traceback."""
    os.environ.setdefault("PSI_RUN_ID", f"{datetime.now():%Y-%m-%d_%H-%M-%S}-{os.getpid()}")
    os.environ.setdefault(STARTED, str(time.time()))
    logging.raiseExceptions = False  # a log file on a full disk must not bury what is said about the disk
    os.environ["HYDRA_FULL_ERROR"] = "1"  # Hydra would print and exit by itself; its errors are explained here
    try:
        sys.argv = ["dry_run=true" if argument == "--dry-run" else argument for argument in sys.argv]
        _check_store(sys.argv[1:])
        offer_plugins()
        _job()
    except (StoreError, LostWorkerError) as error:
        sys.stderr.write(f"{error}\n")
        raise SystemExit(1) from None
    except BrokenExecutor as error:  # of joblib
        sys.stderr.write(
            f"a worker was lost ({type(error).__name__}). Start the same sweep again: what was finished is kept.\n"
        )
        raise SystemExit(1) from None
    except (*REFUSALS, ValueError) as error:
        if not isinstance(error, REFUSALS) and not is_about_groups(error):
            raise
        sys.stderr.write(f"{explained(error, sys.argv[1:])}\n")
        raise SystemExit(2) from None
    except OSError as error:  # the folder of the run's log
        where = error.filename or "to the store"
        sys.stderr.write(f"cannot write {where}: {error.strerror}. Choose another folder with store=PATH.\n")
        raise SystemExit(1) from None


def _check_store(arguments: Sequence[str]) -> None:
    """Refuse what Hydra would make a folder of before the configuration can be looked at."""
    for argument in arguments:
        if re.fullmatch(r"""\+*store=(['"]?)(~.*|)\1""", argument):
            raise ConfigError(f"{argument}: not a folder. Give its path, such as store=runs or store=$HOME/runs.")


@hydra.main(version_base="1.3", config_path=str(CONF), config_name="config")
def _job(config: DictConfig) -> None:
    choices = HydraConfig.get().runtime.choices
    dataset, method = str(choices.get("dataset")), str(choices.get("method"))
    store = str(config.store)
    try:
        done = _run(config, dataset)
        outcome = JobOutcome(store, None, plan=done) if isinstance(done, Plan) else JobOutcome(store, done)
    except (PsiError, OmegaConfBaseException) as error:  # refused before it began: the sweep's other jobs still run
        message = explained(error, ())
        log.error("%s on %s: %s%s", method, dataset, message, _file_of(message, choices))
        cell = Cell(dataset, method, 0, "", "failed", f"{type(error).__name__}: {message}")
        outcome = JobOutcome(store, cell, refused=isinstance(error, (ConfigError, OmegaConfBaseException)))
    note_outcome(Path(HydraConfig.get().runtime.output_dir), outcome)


def _run(config: DictConfig, dataset: str) -> Cell | Plan:
    run = run_from(config)
    given = {override.lstrip("+~").split("=")[0] for override in HydraConfig.get().overrides.task}
    for key in sorted(given & set(unused(config))):
        reader = type(run.reader).__name__
        log.warning("%s=... has no effect: method %s with reader %s does not use it", key, run.method.name, reader)
    deep = [name for name in run.metrics if (cut := re.search(r"@(\d+)$", name)) and int(cut[1]) > run.k]
    if deep:
        log.warning("k=%d: no more passages are retrieved, so %s can't see further down", run.k, ", ".join(deep))
    if run.dry_run:
        return plan(run, dataset)
    if run.check_servers:
        check_servers(run, dataset)
    cell = run_cell(run, dataset, masked(config), again(HydraConfig.get().overrides.task))
    tell(run.tracker, cell, Path(run.store))
    return cell


def _file_of(message: str, choices: Mapping[str, str | None]) -> str:
    """The configuration file of the group that an error speaks of, if it does."""
    group = re.match(r"(?:unknown setting ')?(\w+)[.:]", message)
    if group is None or choices.get(group[1]) is None:
        return ""
    return f" (conf/{group[1]}/{choices[group[1]]}.yaml, or the command line)"


if __name__ == "__main__":
    main()
