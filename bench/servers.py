"""Redis and PostgreSQL for tests and measurements: on a free port of the loopback, with their data in a folder that is
removed. They do not wait for the disk."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

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


class PostgresServer(Server):
    """With PASSWORD for the user test. initdb refuses root, who starts it as nobody."""

    variable = "PGPASSWORD"
    layout: tuple[str, ...] = ()  # more options of initdb

    @staticmethod
    def missing():
        return None if binary("initdb") else "PostgreSQL's server is not installed"

    def start(self):
        if not Path(self.folder, "data").exists():
            secret = Path(self.folder, "password")
            secret.write_text(PASSWORD)
            if self.owner():
                shutil.chown(self.folder, "nobody")
            options = ["--username=test", "--auth=scram-sha-256", f"--pwfile={secret}", "--no-sync", "--encoding=UTF8"]
            options += self.layout
            command = [binary("initdb"), "-D", "data", "--locale=C", *options]
            subprocess.run(command, cwd=self.folder, check=True, stdout=subprocess.DEVNULL, **self.owner())
        super().start()
        while subprocess.run([binary("pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(self.port)]).returncode:
            time.sleep(0.02)
        return self

    def command(self):
        options = {"port": self.port, "listen_addresses": "127.0.0.1", "unix_socket_directories": "", "fsync": "off"}
        return [binary("postgres"), "-D", "data", *(f"--{name}={value}" for name, value in options.items())]

    def url(self, password=PASSWORD):
        return f"postgresql://test:{quoted(password)}@127.0.0.1:{self.port}/postgres"

    def owner(self):
        return {"user": "nobody", "group": "nogroup"} if os.getuid() == 0 else {}

    def stop(self):
        if self.process is not None:
            self.process.send_signal(signal.SIGINT)  # the fast way, which ends connections
            self.process.wait(60)
            self.process = None


def binary(name):
    """The path of a program of PostgreSQL's server, which are not all on the PATH."""
    folders = [os.environ.get("PATH", ""), *sorted(map(str, Path("/usr/lib/postgresql").glob("*/bin")), reverse=True)]
    if shutil.which("pg_config"):
        folders.insert(0, subprocess.check_output(["pg_config", "--bindir"], text=True).strip())
    return shutil.which(name, path=os.pathsep.join(folders))


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
