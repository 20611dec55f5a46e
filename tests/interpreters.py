"""Python code in processes of their own, without the seconds that importing torch takes: each is a fork of one that
has imported torch and nothing else. Code that needs an interpreter of its own from the beginning, for other settings
of OpenMP or what is preloaded, is run by subprocess."""

import atexit
import contextlib
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
        for number, file in enumerate(asked["files"]):
            os.dup2(os.open(file, os.O_WRONLY if number else os.O_RDONLY), number)
        sys.stdin = open(0, closefd=False)
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


def begin(code, arguments, files, env=None):
    """Let the server fork a process whose input, output and, where they are given, errors are these files."""
    asked = {"code": code, "arguments": [*map(str, arguments)], "files": [*map(str, files)]}
    asked |= {"folder": os.getcwd(), "environment": dict(os.environ if env is None else env)}
    print(json.dumps(asked), file=server().stdin, flush=True)


def status():
    """That of the process that has been begun, at its end."""
    return int(server().stdout.readline())


def run(code, *arguments, env=None):
    """As subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, env=env)."""
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / name for name in ("out", "err")]
        for file in files:
            file.touch()
        begin(code, arguments, [os.devnull, *files], env)
        return subprocess.CompletedProcess([code, *arguments], status(), *(file.read_text() for file in files))


@contextlib.contextmanager
def talking(code, *arguments):
    """A process that runs the code, by what is written to its input and read from its output; it has to succeed. No
    other is begun meanwhile."""
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / name for name in ("in", "out")]
        for file in files:
            os.mkfifo(file)
        begin(code, arguments, files)
        try:
            with open(files[0], "w") as said, open(files[1]) as heard:
                yield said, heard
        finally:
            ended = status()
        assert ended == 0
