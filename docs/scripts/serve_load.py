"""How many requests a second xman serve answers on one core, and how much of the core each takes (Linux).

    python docs/scripts/serve_load.py m.safetensors '{"rows": [{"age": 31, "town": "Bonn"}]}'
"""
import asyncio
import os
import subprocess
import sys
import time


async def asking(body: bytes, end: float, answers: list) -> None:
    """Send the body over one connection until the end, each time when the last answer is there."""
    reader, writer = await asyncio.open_connection("127.0.0.1", PORT)
    head = f"POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
    while time.perf_counter() < end:
        writer.write(head.encode() + body)
        answer = (await reader.readuntil(b"\r\n\r\n")).lower()
        await reader.readexactly(int(answer.partition(b"content-length:")[2].split()[0]))
        answers.append(answer.split()[1])
    writer.close()


def seconds_of(process: int) -> float:
    """The processor's time that a process has used."""
    fields = open(f"/proc/{process}/stat").read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def main(model: str, body: str, seconds: float = 5.0, connections: int = 8) -> None:
    command = ["taskset", "-c", "0", sys.executable, "-m", "xman", "serve", model, "--port", str(PORT)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as server:
        server.stdout.readline()
        time.sleep(2)
        await asking(body.encode(), time.perf_counter() + 0.5, [])
        answers, begun, used = [], time.perf_counter(), seconds_of(server.pid)
        await asyncio.gather(*(asking(body.encode(), begun + seconds, answers) for _ in range(connections)))
        used, seconds = seconds_of(server.pid) - used, time.perf_counter() - begun
        server.terminate()
    print(f"{len(answers) / seconds:,.0f} requests a second, {used / len(answers) * 1e6:.0f} µs of the core for each; "
          f"{answers.count(b'200') / len(answers):.1%} answered with predictions")


PORT = 8765
if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:3]))
