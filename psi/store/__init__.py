"""How artefacts are written, found again and read: digests, manifests, atomic folders, rows."""

from psi.store.digest import canonical, digest, file_digest
from psi.store.paths import safe_name
from psi.store.rows import RowLog, read_rows, write_rows
from psi.store.store import Artifact, Locking, Stage, Store, open_artifact, writing

__all__ = [
    "Artifact",
    "Locking",
    "RowLog",
    "Stage",
    "Store",
    "canonical",
    "digest",
    "file_digest",
    "open_artifact",
    "read_rows",
    "safe_name",
    "write_rows",
    "writing",
]
