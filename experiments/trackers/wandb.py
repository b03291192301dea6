"""Weights & Biases, online or offline: one run a cell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from experiments.trackers.report import Report
from psi.component import Component, runtime
from psi.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class WandbTracker(Component):
    """Sends settings, scores, costs and the figure of every cell; a cell that runs again updates its own run.

    project, entity: where runs are kept.
    mode: `offline` writes below the store, to be sent by `wandb sync`; `online` sends at once and needs WANDB_API_KEY.
    """

    project: str = runtime("psi-bench")
    entity: str | None = runtime(None)
    mode: Literal["offline", "online"] = runtime("offline")

    def track(self, report: Report) -> None:
        """Tell of one cell.

        Raises:
            ConfigError: the package is missing.
        """
        try:
            import wandb
        except ImportError as error:
            raise ConfigError("tracker=wandb needs its package: pip install -e '.[track]'.") from error
        cell = report.cell
        quiet = wandb.Settings(
            console="off", silent=True, disable_code=True, disable_git=True, x_disable_stats=True, x_disable_meta=True
        )
        run = wandb.init(
            project=self.project, entity=self.entity, mode=self.mode, name=report.name, id=cell.digest, resume="allow",
            group=cell.dataset, job_type=cell.method, config=dict(cell.settings), dir=str(report.store), settings=quiet,
        )  # fmt: skip
        run.summary.update({**report.numbers(), "status": cell.status, "error": cell.error})
        if (figure := report.figure()) is not None:
            run.log({"scores": wandb.Image(str(figure))})
        run.finish(exit_code=0 if cell.status == "ok" else 1)
