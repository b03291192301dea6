from dataclasses import dataclass, field
from typing import Annotated, Literal

import pytest
from pydantic import Field, NonNegativeInt, PositiveInt

from psi.component import Component, did_you_mean, required_settings, runtime
from psi.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class Inner(Component):
    width: PositiveInt = 4


@dataclass(frozen=True, kw_only=True)
class Outer(Component):
    beam: PositiveInt = 10
    rate: Annotated[float, Field(ge=0, le=1)] = 0.5
    kind: Literal["a", "b"] = "a"
    seed: NonNegativeInt = 0
    inner: Inner = field(default_factory=Inner)
    names: tuple[str, ...] = ()
    device: str = runtime("auto")


@pytest.mark.parametrize(
    ("setting", "value", "said"),
    [
        ("beam", "abc", "integer"),
        ("beam", True, "integer"),
        ("beam", -1, "greater than 0"),
        ("beam", 1.5, "integer"),
        ("beam", None, "integer"),
        ("rate", 1.5, "less than or equal to 1"),
        ("rate", "0.1", "number"),
        ("kind", "c", "'a' or 'b'"),
        ("names", ["x", 1], "string"),
        ("inner", 3, "Inner"),
    ],
)
def test_a_wrong_value_is_refused_with_the_name_and_what_was_expected(setting, value, said):
    with pytest.raises(ConfigError) as refused:
        Outer(**{setting: value})
    assert setting in str(refused.value)
    assert said in str(refused.value)


def test_zero_is_a_seed_and_an_integer_is_a_rate():
    outer = Outer(seed=0, rate=1, names=["x"])
    assert (outer.seed, outer.rate, outer.names) == (0, 1.0, ("x",))


def test_identity_holds_every_setting_that_changes_results_and_no_other():
    identity = Outer(device="cuda").identity()
    assert identity == Outer(device="cpu").identity()
    assert identity["inner"] == Inner().identity()
    assert "device" not in identity
    for change in (
        {"beam": 11},
        {"rate": 0.4},
        {"kind": "b"},
        {"seed": 1},
        {"inner": Inner(width=5)},
        {"names": ("y",)},
    ):
        assert Outer(**change).identity() != identity


def test_an_unknown_name_is_answered_with_the_nearest_and_with_all():
    assert did_you_mean("bean", ["beam", "k"]) == " Did you mean 'beam'? Allowed: beam, k."
    assert did_you_mean("zzz", ["beam", "k"]) == " Allowed: beam, k."


@pytest.mark.parametrize("value", [float("inf"), float("nan")])
def test_what_no_digest_can_hold_is_refused(value):
    with pytest.raises(ConfigError, match="finite"):
        Outer(rate=value)


def test_settings_without_a_default_are_told_apart():
    @dataclass(frozen=True, kw_only=True)
    class Named(Component):
        name: str
        width: int = 1

    assert required_settings(Named) == ["name"]
