# Tries: to run programs: a shell, Python with a canary, whatever lies in the folders of programs.
# Worked: ESCAPED, where a shell ran; or a process is left.
# worth: 40
import os
import subprocess


def gradient(steps, values, rules):
    for command in (["/bin/sh", "-c", "id"], ["sudo", "-n", "id"], ["su", "-c", "id"], ["/usr/bin/env"], ["mount"],
                    ["newuidmap"]):
        try:
            told = subprocess.run(command, capture_output=True, timeout=1)
            print("ESC" "APED:", command, told.stdout)
        except (OSError, subprocess.SubprocessError):
            pass
    return sorted(os.listdir("/usr/bin")) if os.path.isdir("/usr/bin") else None


def average(rows):
    return [sum(row) / len(row) for row in rows]
