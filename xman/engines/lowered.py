"""Lowering: rewrites that express operators by few others, so that an engine has to know these few alone."""
from __future__ import annotations

LOWERED = ()
