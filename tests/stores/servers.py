"""Servers for tests: started on a free port of the loopback, with their data in a folder that is removed."""

import contextlib
import shutil
import socket
import subprocess
import tempfile
import time

PASSWORD = "s3cret/p@ss#word"


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Server:
    """A program that serves a port, `start`ed and `stop`ped, its data in `folder`."""

    def __init__(self, folder):
        self.folder, self.port, self.process = folder, free_port(), None

    def start(self):
        self.process = subprocess.Popen(
            self.command(), cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **self.owner()
        )
        for _ in range(600):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                return self
            assert self.process.poll() is None, "the server has ended"
            time.sleep(0.02)
        raise TimeoutError(self.command())

    def stop(self):
        if self.process is not None:
            self.process.terminate()
            self.process.wait(60)
            self.process = None

    def owner(self):
        return {}


class RedisServer(Server):
    """With PASSWORD; its data outlast a stop."""

    variable = "REDISCLI_AUTH"

    @staticmethod
    def missing():
        return None if shutil.which("redis-server") else "redis-server is not installed"

    def command(self):
        options = {"port": self.port, "bind": "127.0.0.1", "dir": self.folder, "requirepass": PASSWORD, "save": ""}
        given = [word for name, value in options.items() for word in (f"--{name}", str(value))]
        return ["redis-server", *given, "--appendonly", "yes", "--appendfsync", "no"]

    def url(self, password=PASSWORD):
        return f"redis://:{quoted(password)}@127.0.0.1:{self.port}/0"


def quoted(text):
    return text.replace("/", "%2F").replace("@", "%40").replace("#", "%23")


@contextlib.contextmanager
def running(kind):
    """A server of the kind in a folder of its own."""
    folder = tempfile.mkdtemp(prefix="tgraph-server-")
    server = kind(folder)
    try:
        yield server.start()
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)
