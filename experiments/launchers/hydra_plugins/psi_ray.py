"""Runs the jobs of a sweep as Ray tasks, on this machine or on a cluster."""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from hydra.core.singleton import Singleton
from hydra.core.utils import JobReturn, configure_log, filter_overrides, setup_globals
from hydra.plugins.launcher import Launcher
from hydra.types import HydraContext, TaskFunction
from hydra_plugins.hydra_joblib_launcher._core import execute_job
from omegaconf import DictConfig

from psi.errors import ConfigError, LostWorkerError

log = logging.getLogger(__name__)
CARRIED = ("PSI_", "HF_", "OMP_NUM_THREADS", "TOKENIZERS_PARALLELISM")  # environment that jobs need on other nodes


class RayLauncher(Launcher):
    """One Ray task a job.

    A task whose worker is lost (killed, out of memory, its node gone) starts again on another; stages that were
    finished are found in the store, so the store must be on a file system that all nodes share.

    Args:
        address: of a cluster (`auto`: the one that this node belongs to); None: Ray is started on this machine.
        cpus, gpus: what one job needs; a part of a GPU (0.5) lets two jobs share one.
        jobs: most jobs at a time; None: as many as the cluster has room for.
        retries: new starts of a job whose worker was lost.
    """

    def __init__(self, address: str | None, cpus: float, gpus: float, jobs: int | None, retries: int) -> None:
        self.address, self.cpus, self.gpus, self.jobs, self.retries = address, cpus, gpus, jobs, retries
        self.config: DictConfig | None = None

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        """Called by Hydra before `launch`."""
        self.hydra_context, self.task_function, self.config = hydra_context, task_function, config

    def launch(self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int) -> Sequence[JobReturn]:
        """Run the jobs and wait for them.

        Raises:
            LostWorkerError: a job's worker was lost more often than `retries`; the other jobs end first.
            ConfigError: Ray is not installed, or can't be reached.
        """
        assert self.config is not None
        setup_globals()
        configure_log(self.config.hydra.hydra_logging, self.config.hydra.verbose)
        Path(str(self.config.hydra.sweep.dir)).mkdir(parents=True, exist_ok=True)
        ray = _ray()
        with _session(ray, self.address):
            job = ray.remote(num_cpus=self.cpus, num_gpus=self.gpus, max_retries=self.retries)(execute_job)
            shared = [ray.put(each) for each in (self.hydra_context, self.config, self.task_function)]
            state = Singleton.get_state()
            tasks: list[Any] = []
            for number, overrides in enumerate(job_overrides, start=initial_job_idx):
                if self.jobs is not None and len(tasks) >= self.jobs:
                    ray.wait(tasks, num_returns=len(tasks) - self.jobs + 1)
                log.info("#%d : %s", number, " ".join(filter_overrides(overrides)))
                tasks.append(job.remote(number, list(overrides), *shared, state))
            return _results(ray, tasks, initial_job_idx)


def _ray() -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # before the import: nothing phones home
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        import ray
    except ImportError as error:
        raise ConfigError("hydra/launcher=ray needs Ray: pip install -e '.[ray]'.") from error
    return ray


@contextlib.contextmanager
def _session(ray: Any, address: str | None) -> Iterator[None]:
    """Ray, started or joined for the block, and left as it was found."""
    if ray.is_initialized():
        yield
        return
    carried = {name: value for name, value in os.environ.items() if name.startswith(CARRIED)}
    own = {} if address else {"include_dashboard": False}
    try:
        ray.init(address=address or "local", runtime_env={"env_vars": carried}, logging_level="warning", **own)
    except ConnectionError as error:
        raise ConfigError(
            f"hydra.launcher.address={address}: no Ray cluster can be reached ({error}). Start one with "
            "`ray start --head`, or leave the address out to use this machine."
        ) from error
    try:
        yield
    finally:
        ray.shutdown()


def _results(ray: Any, tasks: Sequence[Any], first: int) -> list[JobReturn]:
    results, lost = [], []
    for number, task in enumerate(tasks, start=first):
        try:
            results.append(ray.get(task))
        except ray.exceptions.RayTaskError:
            raise
        except ray.exceptions.RayError as error:
            lost.append(number)
            log.error("job %d: its worker was lost (%s)", number, type(error).__name__)
    if lost:
        raise LostWorkerError(
            f"{len(lost)} of {len(tasks)} jobs were lost with their workers ({', '.join(map(str, lost))}). "
            "Start the same sweep again: what was finished is kept."
        )
    return results
