"""Reprojection errors of points seen by cameras, and their sparse Jacobian by cameras, points and weights."""
import numpy as np
from scipy.sparse import vstack

import xman


def prepare(given):
    n, m, p = given["n"], given["m"], given["p"]
    seen = np.arange(p)
    return (np.tile(given["cam"], (n, 1)), np.tile(given["x"], (m, 1)), np.full(p, given["w"]),
            np.tile(given["feat"], (p, 1)), seen % n, seen % m)


def rotated(axis, x):
    """x turned around axis by its length: Rodrigues' formula."""
    angle = np.sqrt(np.sum(axis ** 2))
    cos, unit = np.cos(angle), axis / angle
    return x * cos + np.cross(unit, x) * np.sin(angle) + unit * (np.sum(unit * x) * (1 - cos))


def error(camera, point, weight, seen):
    """Of one observation, by its camera, its point and its weight."""
    turned = rotated(camera[:3], point - camera[3:6])
    flat = turned[:2] / turned[2]
    square = np.sum(flat ** 2)
    return weight * (flat * (1 + camera[9] * square + camera[10] * square ** 2) * camera[6] + camera[7:9] - seen)


def weight_error(weight):
    return 1 - weight ** 2


def of_each(fn):
    """fn of the camera, the point, the weight and the place of each observation."""
    def of_all(cameras, points, weights, seen, camera, point):
        return xman.map(lambda one: fn(xman.f.getitem(cameras, one[0]), xman.f.getitem(points, one[1]), *one[2:]),
                        (camera, point, weights, seen))
    return of_all


objective = xman.jit(lambda *args: (of_each(error)(*args), weight_error(args[2])))
blocks_of = xman.jit(lambda *args: (*of_each(xman.jacobian(error, (0, 1, 2)))(*args),
                                    xman.map(xman.grad(weight_error), args[2])))


def jacobian(cameras, points, weights, seen, camera, point):
    *blocks, last = blocks_of(cameras, points, weights, seen, camera, point)
    blocks, last = [block.reshape(len(block), 2, -1) for block in blocks], last[:, None, None]
    weight_columns = cameras.size + points.size + np.arange(len(weights))[:, None]
    columns = [11 * camera[:, None] + np.arange(11), cameras.size + 3 * point[:, None] + np.arange(3),
               weight_columns]
    size = cameras.size + points.size + len(weights)
    return vstack([xman.sparse_rows(blocks, columns, size), xman.sparse_rows([last], [weight_columns], size)],
                  "csr")


def written(function, output):
    if function == "objective":
        errors, weights = output
        return {"reproj_error": {"elements": errors[0], "repeated": len(errors)},
                "w_err": {"element": weights[0], "repeated": len(weights)}}
    part = lambda x: np.append(x[:30], x[-1])  # a camera, a point and a weight twice, and the last weight's
    return {"rows": part(output.indptr), "cols": part(output.indices), "vals": part(output.data)}
