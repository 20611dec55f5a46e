"""Python code in processes of their own, without the seconds that importing torch takes: each is a fork of one that
has imported torch and nothing else. Code that needs an interpreter of its own from the beginning, for other settings
of OpenMP or what is preloaded, is run by subprocess."""

import atexit
import functools
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

SERVER = """
import json, os, sys, torch
for line in sys.stdin:
    asked = json.loads(line)
    child = os.fork()
    if not child:
        os.chdir(asked["folder"])
        os.environ.clear()
        os.environ.update(asked["environment"])
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        sys.stdin = open(0, closefd=False)
        for number, file in enumerate(asked["files"], 1):
            os.dup2(os.open(file, os.O_WRONLY), number)
        sys.argv = ["-c", *asked["arguments"]]
        exec(asked["code"], {"__name__": "__main__"})
        sys.exit()
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


@functools.cache
def server():
    """The process that forks, of which there is one for each process of tests."""
    process = subprocess.Popen([sys.executable, "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    atexit.register(end, process)
    return process


def end(process):
    process.stdin.close()
    process.wait()


def run(code, *arguments, env=None):
    """As subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, env=env)."""
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / name for name in ("out", "err")]
        for file in files:
            file.touch()
        asked = {"code": code, "arguments": [*map(str, arguments)], "files": [*map(str, files)]}
        asked |= {"folder": os.getcwd(), "environment": dict(os.environ if env is None else env)}
        process = server()
        print(json.dumps(asked), file=process.stdin, flush=True)
        status = int(process.stdout.readline())
        return subprocess.CompletedProcess([code, *arguments], status, *(file.read_text() for file in files))
