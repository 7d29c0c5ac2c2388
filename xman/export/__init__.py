"""Exports: lists on the arrays of any library, as ONNX, as StableHLO; and the import of ONNX files."""
from ..engines.arrays import on
from ..errors import suggesting
from .from_onnx import from_onnx
from .to_c import to_c
from .to_onnx import to_onnx
from .to_stablehlo import to_stablehlo

__all__ = ["from_onnx", "on", "to_c", "to_onnx", "to_stablehlo"]
suggesting(__name__)
