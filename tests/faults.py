"""Processes that are killed with signal 9 at chosen moments, or interrupted."""

import signal

import interpreters

FORKING = """
import os, signal, sys, time, torch
torch.set_num_threads(1)

def worked(child, begin):  # seconds of the processor, so that other work on the machine changes nothing
    return time.clock_gettime(~child << 3 | 2) if sys.platform == "linux" else time.monotonic() - begin

{code}
for wait in sys.stdin:
    child = os.fork()
    if not child:
        work()
        os._exit(0)
    begin, ended = time.monotonic(), (0, 0)
    while not ended[0] and worked(child, begin) < float(wait):
        time.sleep(0.0005)
        ended = os.waitpid(child, os.WNOHANG)
    if not ended[0]:
        os.kill(child, signal.SIGKILL)
        ended = os.waitpid(child, 0)
    print("killed" if os.WIFSIGNALED(ended[1]) else "failed" if ended[1] else "done", flush=True)
"""


def killed(code, arguments, waits):
    """Fork a process for each of the waits, which calls the function `work` of the code, and kill it after so many
    seconds of work. Yields whether it was still at work. The code finds the arguments in sys.argv[1:]."""
    with interpreters.talking(FORKING.format(code=code), *arguments) as (said, heard):
        for wait in waits:
            print(wait, file=said, flush=True)
            found = heard.readline().strip()
            assert found in ("killed", "done"), found
            yield found == "killed"


def heed_interrupts():
    """In a child process: in the background interrupts may be ignored, which it inherits."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
