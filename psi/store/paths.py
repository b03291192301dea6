"""Names that are safe as one path component on every file system, whatever text they come from."""

from __future__ import annotations

import hashlib
import re

_RESERVED = re.compile(r"(?i)^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)")
_LONGEST = 60


def safe_name(text: str) -> str:
    """A legal, distinct file name for any text (NTFS rules): unchanged if it is plain, else cleaned plus a short hash.

    Distinct texts give distinct names even where the file system ignores case, so capitals count as unplain.
    """
    plain = re.sub(r"[^a-z0-9._-]+", "_", text.lower())[:_LONGEST].strip("._ ")
    if plain and plain == text and not _RESERVED.match(plain):
        return plain
    return f"{plain or 'x'}-{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"
