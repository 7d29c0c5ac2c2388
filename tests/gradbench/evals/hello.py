"""The square of a number, and its derivative."""
import xman


def prepare(given):
    return (float(given),)


def squared(x):
    return x * x


square = xman.jit(squared)
double = xman.jit(xman.grad(squared))
