"""A trained model over HTTP: JSON in, JSON out."""
from .app import application

__all__ = ["application"]
