"""The hook for PyTorch."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from castwise.auditing.hook import (
    Arrays,
    Callables,
    Calls,
    Compiling,
    Hook,
    Inside,
    Read,
    Spelling,
    Watching,
)
from castwise.errors import PromotionError


def _read(tensor: Any) -> Read:
    """Reads a tensor; while a function is traced, not its shape, which would be recorded in the
    trace."""
    torch = sys.modules["torch"]._C
    state = torch._get_tracing_state()
    if state is None:
        return _read_dense(tensor)
    torch._set_tracing_state(None)
    try:
        return _read_dense(tensor)
    finally:
        torch._set_tracing_state(state)


def _read_dense(tensor: Any) -> Read:
    """Reads a dense tensor; the rules do not cover sparse, quantised or nested ones."""
    if tensor.is_nested or tensor.is_quantized or str(tensor.layout) != "torch.strided":
        return None, (), False, None
    return tensor.dtype, tensor.shape, False, None


def _values(tensor: Any) -> list[float]:
    """The values of an array; the real parts, then the imaginary parts, if complex."""
    flat = tensor.detach().cpu().flatten()
    if flat.is_complex():
        return [*flat.real.double().tolist(), *flat.imag.double().tolist()]
    return flat.double().tolist()  # type: ignore[no-any-return]


def _held_values(tensor: Any) -> Any:
    """A tensor's values; None on a device, in a trace, and where a mode would see the reading."""
    torch = sys.modules["torch"]
    core = torch._C
    is_seen = core._len_torch_function_stack() or core._len_torch_dispatch_stack()
    if is_seen or core._get_tracing_state() is not None or tensor.device.type != "cpu":
        return None
    if core._functorch.maybe_current_level() is not None:
        return None
    plain = tensor.detach().resolve_conj().resolve_neg()
    numpys = (torch.float16, torch.float32, torch.float64)
    is_foreign = plain.dtype.is_floating_point and plain.dtype not in numpys
    return (plain.double() if is_foreign else plain).numpy()


def _used_gpu() -> bool:
    return bool(sys.modules["torch"].cuda.is_initialized())


class _NoTypeError(type):
    """The metaclass of classes that derive from TypeError but hide it from their mro."""

    def mro(cls) -> list[type]:
        return [base for base in super().mro() if base is not TypeError]


def _coming_through(error: PromotionError) -> PromotionError:
    """The same error, but not a TypeError. torch reads a TypeError from an operator as "not
    implemented", and the program would see another error without this message."""
    own = {"__module__": PromotionError.__module__}
    kind = _NoTypeError(type(error).__name__, (type(error),), own)
    again: PromotionError = kind(*error.args)
    again.why = error.why
    return again


def _mode(watch: Callable[..., Any]) -> Any:
    """Enters a function mode that reports every call."""
    overrides = sys.modules["torch.overrides"]
    torch = sys.modules["torch"]
    core = torch._C
    is_compiling = getattr(torch.compiler, "is_compiling", bool)  # from torch 2.3 on

    class Watching(overrides.TorchFunctionMode):  # type: ignore[misc, name-defined]
        def __torch_function__(
            self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
        ) -> Any:
            __tracebackhide__ = True
            kwargs = kwargs or {}
            if is_compiling():  # compiled code runs unobserved
                return func(*args, **kwargs)
            try:
                after = watch(func, args, kwargs)
            except PromotionError as error:
                raise _coming_through(error) from None
            result = func(*args, **kwargs)
            if after is not None:
                after(result)
            return result

        def leave(self) -> bool:
            if core._get_function_stack_at(core._len_torch_function_stack() - 1) is not self:
                return False
            self.__exit__(None, None, None)
            return True

    mode = Watching()
    mode.__enter__()
    return mode


HOOK = Hook(
    framework="torch",
    rules="torch",
    modes="torch:autocast=bfloat16 torch:autocast=float16 torch:cuda,autocast=bfloat16 "
    "torch:cuda,autocast=float16",
    arrays=Arrays(
        types="Tensor Parameter", owner="_base", held_in="_parameters _buffers _modules",
        read=_read, values=_values, held_values=_held_values,
    ),
    callables=Callables(
        operands={"input": 0, "other": 1, "exponent": 1, "min": 1, "max": 2, "tensors": 0,
                  "target": 1, "condition": 0},
    ),
    calls=Calls(
        value_casts="to type float double half bfloat16 int long short char byte type_as tensor "
        "as_tensor asarray",
        casts="to type float double half bfloat16 int long short char byte bool cfloat cdouble "
        "chalf type_as set_default_dtype",
        makes="tensor as_tensor asarray zeros ones empty full zeros_like ones_like empty_like "
        "full_like arange linspace logspace eye rand randn randint rand_like randn_like "
        "randint_like normal randperm load new_zeros new_ones new_full new_empty new_tensor Tensor",
        keeps="reshape view transpose permute contiguous clone detach squeeze unsqueeze flatten "
        "expand numpy from_numpy Parameter expand_as repeat tile roll flip sort argsort topk "
        "gather index_select masked_select take register_buffer register_parameter narrow select "
        "chunk split unbind item tolist numel size dim backward zero_ fill_ copy_ requires_grad_ "
        "cpu cuda t diagonal diag tril triu movedim swapaxes broadcast_to unfold normal_ uniform_ "
        "manual_seed save isclose equal is_floating_point is_complex linear bmm mm mv "
        "addmm baddbmm einsum conv1d conv2d scaled_dot_product_attention max_pool2d avg_pool2d "
        "adaptive_avg_pool2d interpolate pad dropout normalize silu leaky_relu elu softplus "
        "embedding masked_fill alias view_as unfold register_hook retain_grad data_ptr "
        "element_size",
        writes={"full_like": (0, 1, "fill_value"), "copy_": (0, 1, "src"), "fill_": (0, 1, "value"),
                "masked_fill": (0, 2, "value"), "masked_fill_": (0, 2, "value"),
                "new_full": (0, 2, "fill_value")},
        writes_all="copy_ fill_ full_like new_full",
        like={"concat": "vstack hstack dstack column_stack row_stack"},
        # Norms take statistics and weights in a wider dtype than their input.
        mixes="broadcast_tensors meshgrid atleast_1d atleast_2d atleast_3d align_tensors "
        "batch_norm layer_norm group_norm instance_norm rms_norm grad set_ set_data swap_tensors "
        "index_copy_ index_put_ index_fill_ masked_scatter_ scatter_ put_ searchsorted bucketize "
        "save_for_backward save_for_forward mark_dirty mark_non_differentiable",
        files="load",
    ),
    spelling=Spelling(
        names="torch",
        alias="torch",
        cast=".to({0})",
        takes_dtype_names=False,
        # A random number of another dtype is another number.
        makes_without_dtype="load Tensor from_numpy randperm rand randn rand_like randn_like "
        "normal",
        takes_dtype_first="type",
    ),
    compiling=Compiling(
        compilers="torch.compile torch.jit.script torch.jit.trace torch.jit.script_method"
    ),
    inside=Inside(
        makes_temporaries=True,
        used_gpu=_used_gpu,
        rounds_sums="index_add",
        # torch.amp's lists for the CPU and for CUDA, by their names in the library. A device may
        # not have all of them: what was cast shows it.
        autocasts={
            "to lower precision": "conv1d conv2d conv3d conv_transpose1d conv_transpose2d "
            "conv_transpose3d conv_tbc bmm mm baddbmm addmm addbmm addmv addr chain_matmul "
            "multi_dot mv linear matmul bilinear prelu einsum linalg_vecdot "
            "scaled_dot_product_attention multi_head_attention_forward lstm gru rnn_tanh rnn_relu "
            "lstm_cell gru_cell rnn_tanh_cell rnn_relu_cell",
            "to float32": "avg_pool3d adaptive_avg_pool3d max_pool3d binary_cross_entropy "
            "grid_sampler grid_sample binary_cross_entropy_with_logits cosine_embedding_loss "
            "cosine_similarity cross_entropy cross_entropy_loss ctc_loss hinge_embedding_loss "
            "huber_loss kl_div l1_loss margin_ranking_loss mse_loss multi_margin_loss "
            "multilabel_margin_loss nll_loss nll_loss2d poisson_nll_loss smooth_l1_loss "
            "soft_margin_loss triplet_margin_loss acos asin cosh erfinv exp expm1 log log10 log1p "
            "log2 reciprocal rsqrt sinh tan pow cdist cumprod cumsum dist layer_norm "
            "native_layer_norm group_norm norm softmax log_softmax softmin softplus prod sum "
            "renorm polar quantile nanquantile stft trace inverse pinverse cholesky interpolate",
            "to the widest": "addcdiv addcmul atan2 cat stack concat dot index_put scatter_add "
            "index_copy",
        },
        dtype_errors=(
            r"can't be cast to the desired output type", r"same dtype", r"expected scalar type",
            r"expected (target |m1|dtype)", r"to have the same dtype", r"not implemented for '",
            r"type \(.*\) and \w+ type \(.*\) should be the same", r"scalar types?:",
            r"dtypes? match", r"tensors used as indices must be", r"[Ll]ow precision dtypes",
            r"dtype must be", r"to be equal to src\.dtype",
            r"[Tt]wo bool tensors|with a bool tensor", r"same scalar type",
            r"dtype \(.*\) does not match \w+ dtype", r"of floating point (and complex )?dtype can",
        ),
        casts="_to_copy",
    ),
    watching=Watching(mode=_mode, dispatch="torch.overrides torch._tensor", shows_inside=True),
)  # fmt: skip
