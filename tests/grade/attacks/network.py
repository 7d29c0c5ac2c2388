# Tries: to reach the grader's machine and the world: TCP, UDP, names, by the addresses of the machine itself and of clouds.
# Worked: ESCAPED, or the listener at port 40404 of the host got a connection.
# worth: 40
import socket


def gradient(steps, values, rules):
    stream, datagram = socket.SOCK_STREAM, socket.SOCK_DGRAM
    for kind, address in ((stream, ("127.0.0.1", 40404)), (stream, ("::1", 40404)), (datagram, ("127.0.0.1", 40404)),
                          (stream, ("0.0.0.0", 40404)), (stream, ("169.254.169.254", 80)), (stream, ("10.0.2.2", 40404))):
        try:
            with socket.socket(socket.AF_INET6 if ":" in address[0] else socket.AF_INET, kind) as it:
                it.settimeout(0.1)
                it.connect(address)
                it.send(b"c4n" b"4ry")
                print("ESC" "APED: connected to", address)
        except OSError:
            pass
    try:
        print("ESC" "APED:", socket.getaddrinfo("example.org", 80))
    except OSError:
        pass
    return {}


def average(rows):
    return [sum(row) / len(row) for row in rows]
