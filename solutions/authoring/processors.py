"""Imitate different machines on this one, with environment variables that libraries read when they start.

Libraries choose their kernels by instruction set, and the kernels determine the order of sums. So a float's last bits
differ between machines. Each kind also has a different number of threads, hash seed, time zone, locale and terminal
width.
"""

_OLD_NUMPY = "X86_V3 X86_V4 AVX512_ICL AVX512_SPR"

PROCESSORS = {
    "sse": {
        "ATEN_CPU_CAPABILITY": "default",
        "ONEDNN_MAX_CPU_ISA": "SSE41",
        "MKL_CBWR": "COMPATIBLE",
        "OPENBLAS_CORETYPE": "Nehalem",
        "NPY_DISABLE_CPU_FEATURES": _OLD_NUMPY,
        "OMP_NUM_THREADS": "1",
        "PYTHONHASHSEED": "1",
        "TZ": "Asia/Kolkata",
        "COLUMNS": "40",
    },
    "avx": {
        "ATEN_CPU_CAPABILITY": "default",
        "ONEDNN_MAX_CPU_ISA": "AVX",
        "MKL_CBWR": "AVX",
        "OPENBLAS_CORETYPE": "Sandybridge",
        "NPY_DISABLE_CPU_FEATURES": _OLD_NUMPY,
        "OMP_NUM_THREADS": "4",
        "PYTHONHASHSEED": "2",
        "TZ": "America/Los_Angeles",
        "COLUMNS": "200",
    },
    "avx2": {
        "ATEN_CPU_CAPABILITY": "avx2",
        "ONEDNN_MAX_CPU_ISA": "AVX2",
        "MKL_CBWR": "AVX2",
        "OPENBLAS_CORETYPE": "Haswell",
        "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR",
        "OMP_NUM_THREADS": "2",
        "PYTHONHASHSEED": "3",
        "TZ": "UTC",
        "LC_ALL": "C.UTF-8",
    },
    "avx512": {
        "ATEN_CPU_CAPABILITY": "avx512",
        "ONEDNN_MAX_CPU_ISA": "AVX512_CORE",
        "MKL_CBWR": "AVX512",
        "OPENBLAS_CORETYPE": "SkylakeX",
        "OMP_NUM_THREADS": "4",
        "PYTHONHASHSEED": "4",
    },
}
