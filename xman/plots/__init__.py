"""Pictures of what a model has learned, and of derivatives; `xman.train` draws learning curves."""
from ..errors import suggesting
from .differences import Errors, difference_errors
from .pictures import (
    confusion_picture,
    decision_regions,
    growth_of_derivatives,
    hessian_spectrum,
    weight_images,
)

__all__ = ["Errors", "difference_errors", "growth_of_derivatives", "hessian_spectrum"]
__all__ += ["confusion_picture", "decision_regions", "weight_images"]
suggesting(__name__)
