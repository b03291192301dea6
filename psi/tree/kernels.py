"""Inner products of float32 rows as vector code: one in the defined order, one quick.

numba's loops over a scratch array of partial sums keep going through memory; these two are written as LLVM vectors and stay in
registers. Both need rows whose width is a multiple of LANES.
"""

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

LANES = 32

RowProduct = Callable[[npt.NDArray[np.float32], npt.NDArray[np.float32]], float]


def _row_product(total: ir.Type, flags: tuple[str, ...]) -> Callable[..., Any]:
    """Code that sums x[k] * y[k] in LANES partial sums of type `total` and folds the upper half on the lower."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        a, b = (
            context.make_array(kind)(context, builder, value)
            for kind, value in zip(signature.args, arguments, strict=True)
        )
        shape = cgutils.unpack_tuple(builder, a.shape)  # type: ignore[no-untyped-call]
        width = shape[0]
        floats, totals = ir.VectorType(ir.FloatType(), LANES), ir.VectorType(total, LANES)

        def load(array: Any, index: Any) -> Any:
            place = builder.bitcast(builder.gep(array.data, [index]), floats.as_pointer())
            value = builder.load(place, align=4)
            return value if totals == floats else builder.fpext(value, totals)

        sums = cgutils.alloca_once(builder, totals)  # type: ignore[no-untyped-call]
        builder.store(ir.Constant(totals, [0.0] * LANES), sums)
        start, step = ir.Constant(width.type, 0), ir.Constant(width.type, LANES)
        with cgutils.for_range_slice(builder, start, width, step, width.type) as (index, _):
            product = builder.fmul(load(a, index), load(b, index), flags=flags)
            builder.store(builder.fadd(builder.load(sums), product, flags=flags), sums)
        return _folded(builder, builder.load(sums), flags)

    return generate


def _folded(builder: Any, lanes: Any, flags: tuple[str, ...]) -> Any:
    half = LANES // 2
    while half:
        places = ir.VectorType(ir.IntType(32), half)
        lower = builder.shuffle_vector(lanes, lanes, ir.Constant(places, list(range(half))))
        upper = builder.shuffle_vector(lanes, lanes, ir.Constant(places, list(range(half, 2 * half))))
        lanes = builder.fadd(lower, upper, flags=flags)
        half //= 2
    return builder.extract_element(lanes, ir.Constant(ir.IntType(32), 0))


def _leading_zeros(_context: Any, number: Any) -> Any:
    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.ctlz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.int64), generate


leading_zeros = cast(Callable[[int], int], intrinsic(_leading_zeros))  # of the 64 bits of an integer


def _typed(result: types.Type, total: ir.Type, flags: tuple[str, ...]) -> RowProduct:
    def typer(_context: Any, a: Any, b: Any) -> Any:
        return result(a, b), _row_product(total, flags)

    return cast(RowProduct, intrinsic(typer))


# A product of float32 numbers is exact in float64, so contraction to a fused multiply-add changes nothing but the speed.
ordered_product = _typed(types.float64, ir.DoubleType(), ("contract",))
quick_product = _typed(types.float32, ir.FloatType(), ("fast",))
