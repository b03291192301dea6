"""Settings of the property tests: the same examples every time, and small sizes where a test asks for them."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from psi.tree import exact, passes, seed

settings.register_profile(
    "tree",
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("tree")

SHARED = Path(__file__).resolve().parents[3] / "shared"


@pytest.fixture
def small_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """Send even a few dozen rows through landmarks, local blocks and the tiled pass, whose cells end within tiles."""
    monkeypatch.setattr(exact, "SMALL", 2)
    monkeypatch.setattr(passes, "CELL", 5)
    monkeypatch.setattr(seed, "GROWN", 8)
    monkeypatch.setattr(seed, "LOCAL_BLOCK", 32)
    monkeypatch.setattr(seed, "_landmarks", lambda n: max(4, n // 8))
