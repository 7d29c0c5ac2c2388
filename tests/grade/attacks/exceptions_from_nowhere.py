# Tries: to have another thread raise exceptions in the worker's own code, between questions, while it reads and writes.
# Worked: points, or the other task is lost.
# worth: 40
import ctypes
import threading
import time


def gradient(steps, values, rules):
    target = threading.main_thread().ident

    def throw():
        while True:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(target), ctypes.py_object(SystemExit))
            time.sleep(1e-4)
    threading.Thread(target=throw, daemon=True).start()
    return {name: 0.0 for name in values}


def average(rows):
    return [sum(row) / len(row) for row in rows]
