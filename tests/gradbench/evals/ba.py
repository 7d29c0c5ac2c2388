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
    square = np.sum(axis ** 2, axis=1, keepdims=True)
    angle = np.sqrt(square)
    cos, sin, unit = np.cos(angle), np.sin(angle), axis / angle
    along = np.sum(unit * x, axis=1, keepdims=True)
    return x * cos + np.cross(unit, x) * sin + unit * (along * (1 - cos))


def errors(cameras, points, weights, seen):
    """One row for each observation, of its own camera, point and weight."""
    turned = rotated(cameras[:, :3], points - cameras[:, 3:6])
    flat = turned[:, :2] / turned[:, 2:]
    square = np.sum(flat ** 2, axis=1, keepdims=True)
    bent = flat * (1 + cameras[:, 9:10] * square + cameras[:, 10:11] * square ** 2)
    return weights[:, None] * (bent * cameras[:, 6:7] + cameras[:, 7:9] - seen)


def weight_errors(weights):
    return 1 - weights ** 2


def all_errors(cameras, points, weights, seen, camera, point):
    return errors(cameras[camera], points[point], weights, seen), weight_errors(weights)


def all_blocks(cameras, points, weights, seen, camera, point):
    blocks = xman.row_jacobian(errors, (0, 1, 2))(cameras[camera], points[point], weights, seen)
    return *blocks, xman.row_jacobian(weight_errors)(weights)


objective, blocks_of = xman.jit(all_errors), xman.jit(all_blocks)


def jacobian(cameras, points, weights, seen, camera, point):
    *blocks, last = blocks_of(cameras, points, weights, seen, camera, point)
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
