"""Programs with sparse derivatives, by which they are tested and measured. Each is written once for NumPy, JAX and CasADi,
as a function of (x, library)."""
from __future__ import annotations

from collections.abc import Callable
from math import isqrt
from typing import Any

import numpy as np

Program = Callable[[Any, Any], Any]


def burgers(n: int) -> tuple[Program, int]:
    return lambda u, _: u[1:-1] * (u[2:] - u[:-2]) / 2 - 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2]), n


def brusselator(n: int) -> tuple[Program, int]:
    """Two substances that react and spread on a square without edges."""
    side = isqrt(n // 2)
    places = np.arange(side * side).reshape(side, side)
    beside = [np.roll(places, step, axis).ravel() for axis in (0, 1) for step in (-1, 1)]

    def change(x: Any, library: Any) -> Any:
        u, v = x[:side * side], x[side * side:]
        spread_u, spread_v = (10 * (sum(z[near] for near in beside) - 4 * z) for z in (u, v))
        return library.concatenate([1 + u * u * v - 4.4 * u + spread_u, 3.4 * u - u * u * v + spread_v])
    return change, 2 * side * side


def bundle_adjustment(n: int) -> tuple[Program, int]:
    """Errors of points seen by four cameras each; a camera has a rotation, a place and a focal length."""
    cameras, points = max(4, n // 50), n * 2 // 7
    point, camera = np.repeat(np.arange(points), 4), np.arange(4 * points) * 7 // 4 % cameras

    def errors(x: Any, library: Any) -> Any:
        rx, ry, rz, tx, ty, tz, focus = (x[7 * camera + k] for k in range(7))
        px, py, pz = (x[7 * cameras + 3 * point + k] for k in range(3))
        angle = library.sqrt(rx * rx + ry * ry + rz * rz)  # Rodrigues' formula turns the points
        s, c = library.sin(angle) / angle, (1 - library.cos(angle)) / (angle * angle)
        along = c * (rx * px + ry * py + rz * pz)
        cos = library.cos(angle)
        x, y, z = (cos * px + s * (ry * pz - rz * py) + along * rx + tx, cos * py + s * (rz * px - rx * pz) + along * ry + ty,
                   cos * pz + s * (rx * py - ry * px) + along * rz + tz + 2)
        return library.concatenate([focus * x / z, focus * y / z])
    return errors, 7 * cameras + 3 * points


def rosenbrock(n: int) -> tuple[Program, int]:
    return lambda x, library: library.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2), n


def arrow(n: int) -> tuple[Program, int]:
    return lambda x, library: library.sum(x[0] * x[1:] ** 2) + x[0] ** 4, n


def kkt(n: int) -> tuple[Program, int]:
    """The Lagrangian by its unknowns and its multipliers: the matrix of the equations of Karush, Kuhn and Tucker."""
    m = n // 2

    def lagrangian(x: Any, library: Any) -> Any:
        unknowns, multipliers = x[:m], x[m:]
        return library.sum(unknowns ** 4) + library.sum(multipliers * (unknowns[:-1] * unknowns[1:] - 1))
    return lagrangian, 2 * m - 1


def moved(x: Any, library: Any) -> list:
    """By how much each state of a car misses what the state before leads to: places, direction and speed, by steering and
    thrust."""
    px, py, angle, speed, steering, thrust = (x[k:-6:6] for k in range(6))
    rates = speed * library.cos(angle), speed * library.sin(angle), speed * steering, thrust
    return [x[6 + k::6] - state - 0.1 * rate for k, (state, rate) in enumerate(zip((px, py, angle, speed), rates, strict=True))]


def control(n: int) -> tuple[Program, int]:
    """The equality constraints of optimal control: six unknowns a step."""
    return lambda x, library: library.concatenate(moved(x, library)), n // 6 * 6


def control_lagrangian(n: int) -> tuple[Program, int]:
    multipliers = np.linspace(1.0, 2.0, n // 6 - 1)
    return lambda x, library: (library.sum(x[4::6] ** 2) + library.sum(x[5::6] ** 2)
                               + sum(library.sum(multipliers * missed) for missed in moved(x, library))), n // 6 * 6


def mesh(n: int) -> tuple[Program, int]:
    """The energy of a sheet of triangles, Neo-Hookean (Smith, de Goes and Kim, 2018), by the places of its corners."""
    side = isqrt(n // 2)
    k = np.arange(side * side).reshape(side, side)
    halves = (k[:-1, :-1], k[:-1, 1:], k[1:, :-1]), (k[1:, 1:], k[1:, :-1], k[:-1, 1:])
    corners = [np.concatenate([a.ravel(), b.ravel()]) for a, b in zip(*halves, strict=True)]

    def energy(x: Any, library: Any) -> Any:
        (ax, ay), (bx, by), (cx, cy) = ((x[2 * corner], x[2 * corner + 1]) for corner in corners)
        ux, uy, vx, vy = bx - ax, by - ay, cx - ax, cy - ay
        return library.sum(ux ** 2 + uy ** 2 + vx ** 2 + vy ** 2 + (ux * vy - uy * vx - 2) ** 2)
    return energy, 2 * side * side


# by name: the derivative, and a function of about how many columns it has, which gives (the program, how many it has)
PROGRAMS: dict[str, tuple[str, Callable[[int], tuple[Program, int]], int]] = {
    "Burgers' equation": ("jacobian", burgers, 1000), "Brusselator, 32 × 32": ("jacobian", brusselator, 2048),
    "bundle adjustment": ("jacobian", bundle_adjustment, 1000), "control, 100 steps": ("jacobian", control, 600),
    "its Lagrangian": ("hessian", control_lagrangian, 600), "Rosenbrock": ("hessian", rosenbrock, 1000),
    "arrow": ("hessian", arrow, 1000), "KKT matrix": ("hessian", kkt, 1000), "triangle mesh": ("hessian", mesh, 1000)}
