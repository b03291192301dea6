"""TensorBoard's event files: one run a cell."""

from __future__ import annotations

import json
from dataclasses import dataclass

from experiments.trackers.report import Report
from psi.component import Component, runtime
from psi.errors import ConfigError
from psi.store import safe_name


@dataclass(frozen=True, kw_only=True)
class TensorBoardTracker(Component):
    """Writes settings, scores, costs and the figure of every cell below the store, for `tensorboard --logdir FOLDER`.

    folder: of the event files, below the store.
    """

    folder: str = runtime("tensorboard")

    def track(self, report: Report) -> None:
        """Tell of one cell.

        Raises:
            ConfigError: the package is missing.
        """
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError as error:
            raise ConfigError("tracker=tensorboard needs its package: pip install -e '.[track]'.") from error
        cell = report.cell
        with SummaryWriter(log_dir=str(report.store / self.folder / safe_name(report.name))) as writer:
            settings = json.dumps(cell.settings, indent=1, ensure_ascii=False)
            writer.add_text("settings", "\n".join(f"    {line}" for line in settings.split("\n")))
            writer.add_text("status", cell.error or cell.status)
            for name, value in report.numbers().items():
                writer.add_scalar(name, value)
            if (figure := report.figure()) is not None:
                from matplotlib.image import imread

                writer.add_image("scores", imread(figure), dataformats="HWC")
