"""How far a fast matrix product can be from the defined similarity, and thresholds that allow for it.

A product is only a filter. For a pair of rows x, y that a pass rounds to x', y' and multiplies with result s,

    |s - w(x, y)| <= |x.y - x'.y'| + |fl(x'.y') - x'.y'| + |x.y - w(x, y)| ,

and each part has a bound. (1) Cauchy-Schwarz: |x.y - x'.y'| <= |x - x'| |y| + |x'| |y - y'|, with the lengths |x - x'|
measured for the rows at hand, not assumed. (2) Any order of d roundings with relative error u each: gamma_d |x'| |y'|,
gamma_d = d u / (1 - d u) (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., §3.1). We take u = 2^-23, twice
the unit roundoff of float32, so that accumulators that truncate (tensor cores) are covered. (3) Unit rows have lengths
within 2^-23 of 1; rounding the similarity to float32, cutting it at 1 and setting equal rows to 1 move it by 2^-21 at
most. What a product then does to its output (rounding to bfloat16, either way) cannot carry it past a threshold that
is itself rounded down to bfloat16.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from psi.errors import InputError
from psi.tree.compiled import compiled
from psi.tree.kernels import LANES
from psi.tree.weights import Floats, dot64, pair_weights
from psi.tree.workers import in_pieces, one_thread_products

Precision = Literal["auto", "fp32", "tf32", "bf16"]

UNIT = 1 + 2.0**-23
ROUNDOFF = 2.0**-23
DEFINITION = 2.0**-21
PIECE = 4096  # rows measured at once by a thread
UNDERFLOW = 2.0**-100  # flushed subnormals, all components together


class Operands(NamedTuple):
    """Rows as a pass multiplies them, and the proven bound on |product - similarity|."""

    rows: torch.Tensor
    bound: float
    precision: str


def choose_device(device: str) -> torch.device:
    """`auto` is the first CUDA device if there is one, else the CPU. Raises InputError for a device that is not there."""
    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        chosen = torch.device(device)
    except RuntimeError as error:
        raise InputError(f"device={device!r}: expected 'auto', 'cpu', 'cuda' or 'cuda:N'") from error
    if chosen.type not in ("cpu", "cuda"):
        raise InputError(f"device={device!r}: expected 'auto', 'cpu', 'cuda' or 'cuda:N'")
    if chosen.type == "cuda" and not torch.cuda.is_available():
        raise InputError(f"device={device!r}: this machine has no CUDA device; use 'auto' or 'cpu'")
    return chosen


def choose_precision(precision: str, device: torch.device) -> str:
    """`auto` is bf16 where the hardware multiplies it (CUDA, a CPU with AMX), else fp32."""
    if precision not in ("auto", "fp32", "tf32", "bf16"):
        raise InputError(f"precision={precision!r}: expected 'auto', 'fp32', 'tf32' or 'bf16'")
    if precision == "tf32" and device.type != "cuda":
        raise InputError("precision='tf32' needs a CUDA device; use 'auto', 'fp32' or 'bf16'")
    if precision != "auto":
        return precision
    return "bf16" if device.type == "cuda" or has_amx() else "fp32"


def has_amx() -> bool:
    """Whether this CPU multiplies bfloat16 tiles in hardware."""
    probe = getattr(torch.cpu, "_is_amx_tile_supported", None)
    return bool(probe()) if probe is not None else False


def operands(rows: Floats, precision: str, device: torch.device) -> Operands:
    """Unit rows (n, d) rounded for a pass of this precision on this device, with the bound of the module's text."""
    exact = torch.from_numpy(rows)
    if precision == "fp32":
        rounded, lost = exact, 0.0
    else:
        with one_thread_products():
            rounded = exact.bfloat16() if precision == "bf16" else _to_tf32(exact)
        lost = _largest_loss(exact, rounded)
    return Operands(rounded.to(device), product_bound(rows.shape[1], lost), precision)


def bound_holds(rows: Floats, fast: Operands, sample: int = 64) -> bool:
    """Whether products of a few rows keep the bound: the proof rests on how the library accumulates, this looks at it."""
    picked = np.unique(np.linspace(0, len(rows) - 1, sample).astype(np.int64))
    index = torch.from_numpy(picked).to(fast.rows.device)
    with honest_products(fast.precision), one_thread_products():
        products = torch.mm(fast.rows[index], fast.rows[index].T).float().cpu().numpy()
    u, v = np.triu_indices(len(picked))
    weights = pair_weights(rows, picked[u], picked[v])
    allowed = fast.bound + (2.0**-8 if fast.precision == "bf16" else 0.0) * np.abs(products[u, v])
    return bool((np.abs(products[u, v] - weights) <= allowed).all())


@contextmanager
def honest_products(precision: str) -> Iterator[None]:
    """Products as the bound assumes them: float32 is float32, tf32 is tf32, bf16 sums are not rounded on the way.

    These are settings of the whole process; they are put back at the end.
    """
    before = torch.get_float32_matmul_precision()
    matmul = torch.backends.cuda.matmul
    reduced = matmul.allow_bf16_reduced_precision_reduction
    torch.set_float32_matmul_precision("high" if precision == "tf32" else "highest")
    matmul.allow_bf16_reduced_precision_reduction = False
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)
        matmul.allow_bf16_reduced_precision_reduction = reduced


def product_bound(width: int, lost: float) -> float:
    """Bound on |product - similarity| for rows of `width` components that lost at most the length `lost` in rounding."""
    inputs = lost * UNIT + (UNIT + lost) * lost
    gamma = width * ROUNDOFF / (1 - width * ROUNDOFF)
    return inputs + gamma * (UNIT + lost) ** 2 + DEFINITION + UNDERFLOW


def _to_tf32(exact: torch.Tensor) -> torch.Tensor:
    """Round to 10 explicit mantissa bits, so that the hardware's own conversion changes nothing."""
    bits = exact.view(torch.int32)
    return ((bits + 0x0FFF + ((bits >> 13) & 1)) & ~0x1FFF).view(torch.float32)


def _largest_loss(exact: torch.Tensor, rounded: torch.Tensor) -> float:
    kind, cut = (torch.uint16, 16) if rounded.dtype == torch.bfloat16 else (torch.uint32, 0)
    rows, patterns = exact.numpy(), rounded.view(kind).numpy()
    losses = np.zeros(-(-len(rows) // PIECE))

    def measure(start: int, stop: int) -> None:
        losses[start // PIECE] = _longest_loss(rows, patterns, cut, start, stop)

    in_pieces(len(rows), PIECE, measure)
    return float(losses.max(initial=0.0)) * (1 + 1e-12)


@compiled
def _longest_loss(rows: Floats, patterns: npt.NDArray[np.unsignedinteger], cut: int, start: int, stop: int) -> float:
    """The longest difference of a row and its rounding, given by its bit patterns without `cut` zeros at their ends."""
    lanes = np.empty(LANES, np.float64)
    bits = np.empty(rows.shape[1], np.uint32)
    rounded = bits.view(np.float32)
    longest = 0.0
    for i in range(start, stop):
        for k in range(len(bits)):
            bits[k] = np.uint32(patterns[i, k]) << np.uint32(cut)
        for k in range(len(bits)):
            rounded[k] = rows[i, k] - rounded[k]  # exact in float32; its square is not subnormal in float64
        longest = max(longest, dot64(rounded, rounded, lanes))
    return float(np.sqrt(longest))


def thresholds(weights: Floats, bound: float, precision: str) -> npt.NDArray[np.int16] | Floats:
    """The smallest product that a pair with similarity >= weight can show, comparable with the pass's output.

    For bf16 that is the output's bit pattern as int16, which orders positive numbers; a threshold that is not positive
    becomes the smallest int16, which every output reaches.
    """
    lowest = np.nextafter((weights.astype(np.float64) - bound).astype(np.float32), np.float32(-np.inf))
    if precision != "bf16":
        return lowest
    pattern = (lowest.view(np.int32) >> 16).astype(np.int16)  # truncation rounds a positive number down
    return np.where(lowest > 0, pattern, np.int16(-(2**15)))
