"""Stores behind servers that stop, start again and refuse, and passwords that no message has."""

import logging
import pickle
import threading
import traceback

import pytest
import torch

from bench.servers import PASSWORD, free_port, quoted, running
from tgraph import stores
from tgraph.errors import ArgumentError, ServerError
from tgraph.pyg import NeighborLoader
from tgraph.stores.blocks import read
from tgraph.stores.server import Address

SECRETS = (PASSWORD, quoted(PASSWORD), "s3cret", "p@ss")


@pytest.fixture(scope="module", params=["redis", "postgres"])
def kind(request):
    return request.param


@pytest.fixture(scope="module")
def own(request, kind):
    """A server that tests may stop, and start again."""
    with running(type(request.getfixturevalue(f"{kind}_server"))) as server:
        yield server


def said(fault):
    """All that a traceback prints of an error, and its repr."""
    text = "".join(traceback.format_exception(fault)) + repr(fault)
    assert not any(secret in text for secret in SECRETS), text
    return text


@pytest.mark.fault
def test_readers_go_on_when_the_server_is_started_again(kind, own):
    store, tensor = stores.open(own.url()), torch.rand(30_000, 20)
    store.put("x", tensor)
    ended, rounds, faults = threading.Event(), [], []

    def work():
        try:
            while not ended.is_set():
                index = torch.randint(30_000, (3000,))
                assert torch.equal(store.get_rows(store.stat("x"), index), tensor[index])
                rounds.append(1)
        except Exception as fault:
            faults.append(fault)

    readers = [threading.Thread(target=work) for _ in range(2)]
    for reader in readers:
        reader.start()
    for _ in range(2):
        before = len(rounds)
        while len(rounds) < before + 4 and not faults:
            ended.wait(0.01)
        own.stop()
        ended.wait(0.2)
        own.start()
    before = len(rounds)
    while len(rounds) < before + 4 and not faults:
        ended.wait(0.01)
    ended.set()
    for reader in readers:
        reader.join()
    assert not faults
    store.put("x", tensor + 1)
    assert torch.equal(read(store, "x")[1], tensor + 1)


@pytest.mark.fault
@pytest.mark.parametrize("workers", [0, pytest.param(2, marks=pytest.mark.soak)])
def test_an_epoch_goes_on_when_the_server_is_started_again(own, workers):
    store = stores.open(own.url())
    features, edges, x = stores.FeatureStore(store), stores.GraphStore(store), torch.rand(2000, 20)
    features[None, "x", None] = x
    edges[None, "coo", False, (2000, 2000)] = tuple(torch.randint(2000, (2, 8000)))
    loader = NeighborLoader(
        (features, edges), [3, 3], batch_size=50, input_nodes=torch.arange(2000), num_workers=workers
    )
    seen, starting = [], None
    for number, batch in enumerate(loader):
        assert torch.equal(batch.x, x[batch.n_id])
        seen.append(batch.input_id)
        if number in (5, 20):
            if starting is not None:
                starting.join()
            own.stop()
            starting = threading.Timer(0.3, own.start)
            starting.start()
    starting.join()
    assert torch.equal(torch.cat(seen), torch.arange(2000))


@pytest.mark.fault
def test_a_server_that_stays_away_is_named_with_the_key(own, kind):
    store = type(stores.open(own.url()))(own.url(), patience=0.2)
    store.put("features/x", torch.zeros(3))
    stat = store.stat("features/x")
    own.stop()
    for request in (
        lambda: store.stat("features/x"),
        lambda: store.get_rows(stat),
        lambda: store.put("features/x", torch.zeros(5)),
        lambda: store.delete("features/x"),
        lambda: store.keys("features/x"),
    ):
        with pytest.raises(ServerError, match=rf"127.0.0.1:{own.port}\S*, 'features/x'.*asked \d+ times") as caught:
            request()
        assert "password" not in said(caught.value)
        assert (caught.value.key, caught.value.lost) == ("features/x", True)
    own.start()
    assert read(store, "features/x")[1].tolist() == [0, 0, 0]


def test_passwords_stand_in_no_message(kind, request, caplog, monkeypatch):
    server = request.getfixturevalue(f"{kind}_server")
    caplog.set_level(logging.DEBUG)
    store = stores.open(server.url())
    again = pickle.loads(pickle.dumps(store))
    assert again.keys() == store.keys()
    for thing in (store, again, store.address, vars(store), vars(again)):
        assert not any(secret in f"{thing!r} {thing}" for secret in SECRETS)
    assert f"127.0.0.1:{server.port}" in repr(store)
    with pytest.raises(ServerError, match=rf"127.0.0.1:{server.port}") as caught:
        stores.open(server.url(f"{PASSWORD}-wrong"))
    said(caught.value)
    assert not caught.value.lost
    nobody = server.url().replace(str(server.port), str(free_port()))
    with pytest.raises(ServerError, match="asked 1 times") as caught:
        stores.open(nobody)
    said(caught.value)
    for url in (server.url().replace(quoted(PASSWORD), PASSWORD), server.url().replace(str(server.port), PASSWORD)):
        with pytest.raises(ArgumentError, match="url: ") as caught:
            stores.open(url)
        said(caught.value)
    assert not any(secret in caplog.text for secret in SECRETS)


def test_passwords_from_the_environment(kind, request, monkeypatch):
    server = request.getfixturevalue(f"{kind}_server")
    url = server.url().replace(f":{quoted(PASSWORD)}", "")
    monkeypatch.delenv(server.variable, raising=False)
    with pytest.raises(ServerError):
        stores.open(url)
    monkeypatch.setenv(server.variable, PASSWORD)
    assert stores.open(url).keys() == stores.open(server.url()).keys()
    monkeypatch.setenv(server.variable, f"{PASSWORD}-wrong")
    with pytest.raises(ServerError) as caught:
        stores.open(url)
    said(caught.value)


@pytest.mark.parametrize(
    ("url", "text"),
    [
        ("redis://host:1/0", "redis://host:1/0"),
        ("redis://:secret@host/0", "redis://host/0"),
        ("redis://me:secret@host:1", "redis://me@host:1"),
        ("postgresql://me@host/db?password=secret&sslmode=require", "postgresql://me@host/db"),
    ],
)
def test_addresses(url, text):
    address = Address(url)
    assert str(address) == text and repr(address) == repr(text) and address.url == url
    assert address.without_secrets("a secret b") == ("a *** b" if "secret" in url else "a secret b")


@pytest.mark.parametrize("prefix", ["", "A", "a b", "1", "x" * 50])
def test_refused_prefixes(prefix):
    with pytest.raises(ArgumentError, match="prefix: expected"):
        stores.RedisStore("redis://127.0.0.1:1", prefix)
