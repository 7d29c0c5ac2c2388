"""The distances of a hand's surface from points in space, and their Jacobian by its pose and places in its
triangles."""
import numpy as np

import xman


def prepare(given):
    data, model = given["data"], given["data"]["model"]
    names = "base_relatives", "inverse_base_absolutes", "base_positions", "weights"
    hand = {name: np.array(model[name], float) for name in names}
    if model["is_mirrored"]:
        raise ValueError("a mirrored hand is not among the inputs of the eval, and not written here")
    triangles, places = np.array(model["triangles"]), np.array(data["correspondences"])
    corners = triangles[places] if len(given["us"]) else places[:, None]
    us = np.reshape(given["us"], (-1, 2)).astype(float)
    return np.array(given["theta"]), us, hand, np.array(data["points"]), tuple(model["parents"]), corners


def fingers(count):
    """Where theta has the three angles of each bone: past its end where an angle is 0."""
    place = np.full((count, 3), 26)
    for finger in range(5):
        first = 6 + 4 * finger
        place[2 + 4 * finger:5 + 4 * finger, 0] = first, first + 2, first + 3
        place[2 + 4 * finger, 1] = first + 1
    return place


def turns(angles):
    """Rotations around z, y and x, one for each row of angles (x, z, y), of shape (n, 4, 4)."""
    (a, c, b), zero, one = angles.T, np.zeros(len(angles)), np.ones(len(angles))
    (ca, sa), (cb, sb), (cc, sc) = ((np.cos(x), np.sin(x)) for x in (a, b, c))
    entries = [cc * cb, cc * sb * sa - sc * ca, cc * sb * ca + sc * sa, zero,
               sc * cb, sc * sb * sa + cc * ca, sc * sb * ca - cc * sa, zero,
               -sb, cb * sa, cb * ca, zero, zero, zero, zero, one]
    return np.stack(entries, axis=1).reshape(-1, 4, 4)


def rotation(axis):
    """The rotation around axis by its length."""
    length = np.sqrt(np.sum(axis ** 2))
    if length < 1e-4:
        return np.eye(3)
    x, y, z = axis / length
    cross = np.stack([0 * x, -z, y, z, 0 * x, -x, -y, x, 0 * x]).reshape(3, 3)
    return np.eye(3) + np.sin(length) * cross + (1 - np.cos(length)) * (cross @ cross)


def surface(theta, hand, parents):
    """The vertices of the hand in that pose."""
    count, parents = len(parents), np.array(parents)
    relative = hand["base_relatives"] @ turns(np.append(theta, 0.0)[fingers(count)])
    order = np.flatnonzero(parents < 0)
    known, absolute = list(order), relative[order]
    while len(known) < count:  # a generation of bones at a time
        parent = np.array([known.index(p) if p in known else -1 for p in parents])
        order = np.array([k for k in range(count) if parent[k] >= 0 and k not in known])
        absolute = np.concatenate([absolute, absolute[parent[order]] @ relative[order]])
        known += list(order)
    bones = absolute[np.argsort(known)] @ hand["inverse_base_absolutes"]
    skin = hand["weights"][:, :, None] * hand["base_positions"][:, None, :]
    vertices = skin.reshape(-1, 4 * count) @ bones[:, :3].transpose(0, 2, 1).reshape(4 * count, 3)
    return vertices @ rotation(theta[:3]).T + theta[3:6]


def within(us, corners):
    """The points of triangles, (n, 3, 3), at the places us; of vertices, (n, 1, 3), themselves."""
    if corners.shape[1] == 1:
        return corners[:, 0]
    u, v = us[:, 0, None], us[:, 1, None]
    return u * corners[:, 0] + v * corners[:, 1] + (1 - u - v) * corners[:, 2]


def distances(theta, us, hand, points, parents, corners):
    return points - within(us, surface(theta, hand, parents)[corners])


def derivatives(theta, us, hand, points, parents, corners):
    by_pose = xman.jacobian(distances, 0, "forward")(theta, us, hand, points, parents, corners)
    if not len(us):
        return by_pose.reshape(-1, len(theta))
    triangles = surface(theta, hand, parents)[corners]
    of_one = xman.jacobian(lambda u, corners: within(u[None], corners[None])[0])
    by_place = -xman.map(lambda one: of_one(*one), (us, triangles))
    return np.concatenate([by_place, by_pose], axis=2).reshape(-1, 2 + len(theta))


objective, jacobian = xman.jit(distances), xman.jit(derivatives)


def written(function, output):
    return output.ravel() if function == "objective" else output
