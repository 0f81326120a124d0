"""Tensors that run under any dialect's rules: the engine decides, a backend computes."""

from castwise.arrays import fast_path, handed
from castwise.arrays.apply import (
    apply_op,
    apply_operator,
    apply_unary,
    augmented,
    divmod_of,
    round_of,
    rounded,
    update,
)
from castwise.arrays.backend import introduce_tensors
from castwise.arrays.library import array_function, array_ufunc, namespace_function
from castwise.arrays.tensor import Tensor, tensor_like

fast_path.results_are(Tensor)
handed.hand_over(
    handed.Calls(
        operator=apply_operator,
        unary=apply_unary,
        augmented=augmented,
        in_place=update,
        divmod=divmod_of,
        round=round_of,
        op=apply_op,
        function=namespace_function,
        rounded=rounded,
        tensor_like=tensor_like,
        library_function=array_function,
        library_ufunc=array_ufunc,
    )
)
introduce_tensors()
