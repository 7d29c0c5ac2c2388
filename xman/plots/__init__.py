"""Pictures by Matplotlib of what a model has learned and of what derivatives cost;
learning curves are train's."""
from .pictures import (
    confusion_picture,
    decision_regions,
    growth_of_derivatives,
    hessian_spectrum,
    weight_images,
)

__all__ = ["confusion_picture", "decision_regions", "growth_of_derivatives", "hessian_spectrum", "weight_images"]
