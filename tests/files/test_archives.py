"""Archives with one file."""

import io
import tarfile
import zipfile

import pytest

import tgraph as tg
from tgraph.errors import ArgumentError, FileFormatError


def packed(path, files):
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, text in files.items():
                archive.writestr(name, text)
    else:
        with tarfile.open(path, f"w:{path.suffix.lstrip('.').replace('tar', '')}") as archive:
            for name, text in files.items():
                entry = tarfile.TarInfo(name)
                entry.size = len(text)
                archive.addfile(entry, io.BytesIO(text.encode()))
    return path


@pytest.mark.parametrize("name", ["a.zip", "a.tar", "a.tar.gz", "a.tar.bz2"])
def test_one_file(tmp_path, name):
    path = packed(tmp_path / name, {"folder/.DS_Store": "x", "folder/a.csv": "source,target\n" + "1,2\n2,3\n" * 9999})
    assert tg.read(path).num_edges == 19998 and tg.io.columns_of(path).source == "source"
    konect = packed(tmp_path / name, {"x/README.x": "x", "x/out.x": "% sym\n1 2\n2 3\n", "x/meta.x": "y"})
    assert not tg.read(konect).directed
    with pytest.raises(FileFormatError, match=r"2 files in the archive: a.el, b.el; unpack"):
        tg.read(packed(tmp_path / name, {"a.el": "1 2", "b.el": "1 2"}))
    path = packed(tmp_path / name, {"a.el": "".join(f"{i} {i * i % 9973}\n" for i in range(9999))})
    data = path.read_bytes()
    path.write_bytes(data[:300] + data[350:])
    with pytest.raises(FileFormatError):
        tg.read(path)
    with pytest.raises(ArgumentError, match="unknown extension"):
        tg.write(tg.Graph.from_edges([0], [1]), path)
