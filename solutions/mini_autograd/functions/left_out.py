"""Error messages for names that torch has and the mini engine leaves out.

The missing attributes of `torch.Tensor` are listed here instead of being caught by `Tensor.__getattr__`, because a
class with `__getattr__` slows down every attribute access: CPython 3.11 then looks each one up in full, and a chain of
small operations took an eighth longer. A test compares the list with torch.
"""


class LeftOut:
    """An attribute that the mini engine leaves out; reading it raises an error that says so."""

    def __init__(self, name):
        self.name = name

    def __get__(self, tensor, cls):
        raise AttributeError(
            f"'{cls.__name__}' object has no attribute '{self.name}': the mini engine leaves out "
            f"torch.Tensor.{self.name}; see README.md"
        )


NAMES = [
    "H", "absolute", "absolute_", "acos", "acos_", "acosh", "acosh_", "addbmm", "addbmm_", "addcdiv", "addcdiv_",
    "addcmul", "addcmul_", "addmm", "addmm_", "addmv", "addmv_", "addr", "addr_", "adjoint", "aminmax", "angle",
    "apply_", "arccos", "arccos_", "arccosh", "arccosh_", "arcsin", "arcsin_", "arcsinh", "arcsinh_", "arctan",
    "arctan2", "arctan2_", "arctan_", "arctanh", "arctanh_", "argsort", "argwhere", "as_strided", "as_strided_",
    "as_strided_scatter", "as_subclass", "asin", "asin_", "asinh", "asinh_", "atan", "atan2", "atan2_", "atan_",
    "atanh", "atanh_", "baddbmm", "baddbmm_", "bernoulli", "bernoulli_", "bfloat16", "bincount", "bitwise_and",
    "bitwise_and_", "bitwise_left_shift", "bitwise_left_shift_", "bitwise_not", "bitwise_not_", "bitwise_or",
    "bitwise_or_", "bitwise_right_shift", "bitwise_right_shift_", "bitwise_xor", "bitwise_xor_", "broadcast_to",
    "byte", "cauchy_", "ccol_indices", "cdouble", "cfloat", "chalf", "char", "cholesky", "cholesky_inverse",
    "cholesky_solve", "clamp_max", "clamp_max_", "clamp_min", "clamp_min_", "clip", "clip_", "coalesce",
    "col_indices", "conj", "conj_physical", "conj_physical_", "const_data_ptr", "copysign", "copysign_", "corrcoef",
    "cosh", "cosh_", "count_nonzero", "cov", "cross", "crow_indices", "cuda", "cummax", "cummin", "cumprod",
    "cumprod_", "cumsum", "cumsum_", "deg2rad", "deg2rad_", "dense_dim", "dequantize", "det", "diag", "diag_embed",
    "diagflat", "diagonal", "diagonal_scatter", "diff", "digamma", "digamma_", "dim_order", "dist", "divide",
    "divide_", "dsplit", "eig", "eq_", "erf", "erf_", "erfc", "erfc_", "erfinv", "erfinv_", "exp2", "exp2_",
    "expm1", "expm1_", "exponential_", "fill_diagonal_", "fix", "fix_", "fliplr", "flipud", "float_power",
    "float_power_", "floor_divide", "floor_divide_", "fmax", "fmin", "fmod", "fmod_", "frac", "frac_", "frexp",
    "gcd", "gcd_", "ge_", "geometric_", "geqrf", "ger", "get_device", "grad_dtype", "greater", "greater_",
    "greater_equal", "greater_equal_", "gt_", "half", "hardshrink", "hash_tensor", "heaviside", "heaviside_",
    "histc", "histogram", "hsplit", "hypot", "hypot_", "i0", "i0_", "igamma", "igamma_", "igammac", "igammac_",
    "imag", "index", "index_add", "index_add_", "index_copy", "index_copy_", "index_fill", "index_fill_",
    "index_put", "index_put_", "index_reduce", "index_reduce_", "index_select", "indices", "inner", "int_repr",
    "inverse", "ipu", "is_coalesced", "is_complex", "is_conj", "is_cpu", "is_cuda", "is_distributed", "is_ipu",
    "is_maia", "is_meta", "is_mkldnn", "is_mps", "is_mtia", "is_neg", "is_nested", "is_nonzero", "is_pinned",
    "is_quantized", "is_same_size", "is_set_to", "is_shared", "is_signed", "is_sparse", "is_sparse_csr",
    "is_vulkan", "is_xla", "is_xpu", "isclose", "isneginf", "isposinf", "isreal", "istft", "itemsize", "kron",
    "kthvalue", "layout", "lcm", "lcm_", "ldexp", "ldexp_", "le_", "lerp", "lerp_", "less", "less_", "less_equal",
    "less_equal_", "lgamma", "lgamma_", "log10", "log10_", "log2", "log2_", "log_normal_", "logaddexp",
    "logaddexp2", "logcumsumexp", "logdet", "logical_and_", "logical_not_", "logical_or_", "logical_xor",
    "logical_xor_", "logit", "logit_", "lstsq", "lt_", "lu", "lu_solve", "mH", "map2_", "map_", "masked_scatter",
    "masked_scatter_", "masked_select", "matrix_exp", "matrix_power", "median", "mode", "module_load", "moveaxis",
    "movedim", "msort", "mtia", "multinomial", "multiply", "multiply_", "mvlgamma", "mvlgamma_", "name",
    "nan_to_num", "nan_to_num_", "nanmean", "nanmedian", "nanquantile", "nansum", "narrow_copy", "nbytes",
    "ndimension", "ne_", "negative", "negative_", "nelement", "new", "new_empty", "new_empty_strided", "new_full",
    "new_ones", "new_tensor", "new_zeros", "nextafter", "nextafter_", "nonzero_static", "normal_", "not_equal",
    "not_equal_", "orgqr", "ormqr", "pin_memory", "pinverse", "polygamma", "polygamma_", "positive", "prelu",
    "prod", "put", "put_", "q_per_channel_axis", "q_per_channel_scales", "q_per_channel_zero_points", "q_scale",
    "q_zero_point", "qr", "qscheme", "quantile", "rad2deg", "rad2deg_", "random_", "ravel", "real", "record_stream",
    "reinforce", "remainder", "remainder_", "renorm", "renorm_", "repeat_interleave", "reshape_as", "resize",
    "resize_", "resize_as", "resize_as_", "resize_as_sparse_", "resolve_conj", "resolve_neg", "roll", "rot90",
    "row_indices", "scatter", "scatter_", "scatter_add", "scatter_add_", "scatter_reduce", "scatter_reduce_",
    "select_scatter", "set_", "sgn", "sgn_", "share_memory_", "short", "signbit", "sinc", "sinc_", "sinh", "sinh_",
    "slice_inverse", "slice_scatter", "slogdet", "smm", "solve", "sort", "sparse_dim", "sparse_mask",
    "sparse_resize_", "sparse_resize_and_clear_", "split_with_sizes", "square_", "squeeze_", "sspaddmm", "stft",
    "storage", "storage_offset", "storage_type", "subtract", "subtract_", "sum_to_size", "svd", "swapaxes",
    "swapaxes_", "swapdims", "swapdims_", "symeig", "t_", "take", "take_along_dim", "tan", "tan_", "tensor_split",
    "tile", "to_dense", "to_mkldnn", "to_padded_tensor", "to_sparse", "to_sparse_bsc", "to_sparse_bsr",
    "to_sparse_coo", "to_sparse_csc", "to_sparse_csr", "topk", "trace", "transpose_", "triangular_solve", "tril",
    "tril_", "triu", "triu_", "true_divide", "true_divide_", "trunc", "trunc_", "type", "type_as", "unflatten",
    "unfold", "uniform_", "unique", "unique_consecutive", "unsafe_chunk", "unsafe_split", "unsafe_split_with_sizes",
    "unsqueeze_", "untyped_storage", "values", "vdot", "volatile", "vsplit", "xlogy", "xlogy_", "xpu",
]  # fmt: skip


def no_attribute(place, name):
    """Return the AttributeError for a name missing in the module `place` ("nn", or "" for the package itself)."""
    place = f".{place}" if place else ""
    message = f"module 'mini_autograd{place}' has no attribute '{name}'"
    if not name.startswith("_"):
        message += f" (if torch{place}.{name} exists, the mini engine leaves it out; see README.md)"
    return AttributeError(message)


def say_so(cls):
    """Give `cls` a LeftOut for each name in NAMES that it lacks."""
    for name in NAMES:
        if not hasattr(cls, name):
            setattr(cls, name, LeftOut(name))
