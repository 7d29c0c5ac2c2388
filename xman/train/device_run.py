"""Only `fit` imports this file, where a run is on devices: it takes JAX."""
from ..scale.devices import OnDevices
from .run import Run


class DeviceRun(OnDevices, Run):
    """A run whose epochs are programs for JAX's devices."""
