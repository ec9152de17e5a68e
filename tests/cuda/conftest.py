"""The kernels without a GPU: Triton's interpreter, mended for numpy 2.4 and later."""

from __future__ import annotations

import os

try:
    import torch

    if not torch.cuda.is_available():
        os.environ["TRITON_INTERPRET"] = "1"  # Triton reads it when it is imported
    import triton  # noqa: F401
except ModuleNotFoundError:
    if os.environ.get("FULLRANK_REQUIRE_EXTRAS") == "1":
        raise
    collect_ignore_glob = ["test_*.py"]

if os.environ.get("TRITON_INTERPRET") == "1":
    import triton.runtime.interpreter as interpreter

    _patch = interpreter._patch_lang_tensor

    def _whole_numbers(tensor, scope):
        """Numpy 2.4 makes no int of an array with one element; loop bounds are such arrays."""
        _patch(tensor, scope)
        scope.set_attr(tensor, "__index__", lambda self: int(self.handle.data.item()))

    interpreter._patch_lang_tensor = _whole_numbers
