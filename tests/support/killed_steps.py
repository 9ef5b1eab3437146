"""A process that is killed at the n-th of its calls to the system that write a file."""

from __future__ import annotations

import os
import subprocess
import sys

KILLED = 9
_COUNTED = """
import os, sys
left = int(sys.argv[1])
def counted(function):
    def step(*arguments, **named):
        global left
        left -= 1
        if left < 0:
            os._exit({killed})
        return function(*arguments, **named)
    return step
{imports}
for name in ("open", "ftruncate", "write", "fsync", "link", "unlink", "close"):
    setattr(os, name, counted(getattr(os, name)))
{call}
os._exit(0)
"""


def killed_at(step: int, imports: str, call: str, *arguments: object) -> int:
    """Run `call`, killed at this step: `KILLED`, or 0 where it has no more of them.

    `call` finds the arguments in `sys.argv[2:]`.
    """
    program = _COUNTED.format(killed=KILLED, imports=imports, call=call)
    command = [sys.executable, "-c", program, str(step), *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(command, env=environment, check=False).returncode
