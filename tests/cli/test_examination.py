"""`tgraph doctor`: every backend, every device, and the way to what is missing."""

import os
import platform
import sys
from dataclasses import replace
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest
import torch
from typer.testing import CliRunner

from tgraph import kernels
from tgraph.cli import app, examination
from tgraph.core import dispatch
from tgraph.core.system import native
from tgraph.kernels import Backend, Implementation
from tgraph.kernels.call import Call
from tgraph.kernels.cuda import compiler


def sections():
    """{title: {name: entry}} of the command's report."""
    result = CliRunner().invoke(app, ["doctor"], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    found = {}
    for part in result.stdout.strip().split("\n\n"):
        title, *rows = part.splitlines()
        assert all(row.startswith("  ") for row in rows)
        found[title] = dict(row.strip().split("  ", 1) for row in rows)
    return {title: {name: said.strip() for name, said in rows.items()} for title, rows in found.items()}


def backend_named(name, refuses, unavailable=None):
    return Backend(name, {"aggregate": Implementation(None, refuses)}, lambda: unavailable)


def test_the_report_has_versions_devices_backends_and_the_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("TGRAPH_CACHE", str(tmp_path))
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels" / "a.bin").write_bytes(bytes(2500))
    report = sections()
    assert report["versions"]["torch"] == torch.__version__
    assert report["versions"]["Python"].startswith(platform.python_version())
    assert "cpu" in report["devices"]
    assert list(report["backends, best first"]) == list(kernels.BACKENDS)
    assert report["backends, best first"]["portable"] == ", ".join(report["devices"])
    assert report["cache"] == {"folder": f"{tmp_path} (TGRAPH_CACHE names another)", "size": "2.5 kB in 1 files"}


@pytest.mark.skipif(native.load() is None, reason="the compiled kernels are not installed")
def test_the_report_has_what_limits_the_threads(monkeypatch):
    monkeypatch.setenv("TGRAPH_CPUS", "1")
    title = "threads of the compiled kernels"
    limited = sections()[title]
    assert limited["used"] == "1"
    assert limited["TGRAPH_CPUS"].startswith("1,")
    monkeypatch.delenv("TGRAPH_CPUS")
    found = sections()[title]
    assert found["TGRAPH_CPUS"] == "not set" and found["processors"].startswith(f"{os.cpu_count()}, of which")
    assert found["used"] == str(native.load().thread_count())


def test_a_cache_that_is_not_there_is_empty(monkeypatch, tmp_path):
    monkeypatch.setenv("TGRAPH_CACHE", str(tmp_path / "none"))
    assert sections()["cache"]["size"] == "empty"


def test_without_a_home_the_report_names_the_variable(monkeypatch):
    def no_home():
        raise RuntimeError("no home directory")

    for name in ("TGRAPH_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", no_home)
    assert sections()["cache"] == {
        "folder": "none (no home directory); the environment variable TGRAPH_CACHE can name one"
    }


def test_a_backend_gives_the_reason_for_not_serving_a_device(monkeypatch):
    monkeypatch.setattr(examination, "devices", lambda: ["cpu", "meta"])
    monkeypatch.setattr(examination, "model", str)
    call = Call("aggregate", torch.ones(2))
    monkeypatch.setattr(examination, "plain_call", lambda device, layout: replace(call, data=call.data.to(device)))
    backends = [
        backend_named("both", lambda call: None),
        backend_named("one", lambda call: "it needs memory" if call.data.is_meta else None),
        backend_named("none", lambda call: f"not that {call.data.device}"),
        backend_named("lost", lambda call: "no", "a library is missing; pip install 'tgraph[lost]'"),
    ]
    for module in (kernels, dispatch):
        monkeypatch.setattr(module, "BACKENDS", {backend.name: backend for backend in backends})
    assert sections()["backends, best first"] == {
        "both": "cpu, meta",
        "one": "cpu; not meta: it needs memory",
        "none": "not cpu: not that cpu; not meta: not that meta",
        "lost": "nothing here: a library is missing; pip install 'tgraph[lost]'",
    }


def test_a_device_that_does_not_work_is_reported(monkeypatch):
    monkeypatch.setattr(examination, "devices", lambda: ["cpu", "cuda:99"])
    monkeypatch.setattr(examination, "model", str)
    assert "not cuda:99: " in sections()["backends, best first"]["portable"]


def test_what_is_missing_comes_with_the_way_to_get_it(monkeypatch):
    def not_installed(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(examination, "version", not_installed)
    monkeypatch.setattr(compiler, "unavailable", lambda: "no NVRTC; pip install 'tgraph[cuda13]'")
    versions = sections()["versions"]
    assert versions["cuda.core"] == f"missing; pip install 'tgraph[{compiler.extra()}]'"
    assert versions["NVRTC"] == "none: no NVRTC; pip install 'tgraph[cuda13]'"


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_a_gpu_is_named():
    assert "compute capability" in sections()["devices"]["cuda:0"]


def test_the_report_needs_no_optional_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "cuda.core", None)
    monkeypatch.setattr(compiler, "unavailable", compiler.unavailable.__wrapped__)
    assert "pip install" in sections()["versions"]["NVRTC"]
