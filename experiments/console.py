"""Log messages and progress bars on one terminal."""

from __future__ import annotations

import logging
import sys

from tqdm import tqdm


class BarHandler(logging.Handler):
    """Writes messages above the progress bars instead of through them."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write one message to standard error."""
        if sys.stderr.isatty():
            tqdm.write(self.format(record), file=sys.stderr)
        else:  # tqdm would draw the bars again after every message
            sys.stderr.write(f"{self.format(record)}\n")
