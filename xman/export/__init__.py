"""Lists for others to run: on the arrays of any library, as ONNX files, as StableHLO."""
from .rows import on
from .to_onnx import to_onnx
from .to_stablehlo import to_stablehlo

__all__ = ["on", "to_onnx", "to_stablehlo"]
