"""Every dependency has its licence in LICENCES.md, the one that it says itself where it is installed."""

import re
import sys
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    tomllib = pytest.importorskip("tomli")

ROOT = Path(__file__).parents[1]
LISTED = dict(re.findall(r"(?m)^\| ([\w.-]+) \| ([^|]+?) \|", (ROOT / "LICENCES.md").read_text(encoding="utf-8")))
LISTED.pop("package")

# What a name of SPDX is called where packages use the older fields of their metadata.
OLDER = {
    "Apache-2.0": ("Apache Software License", "Apache 2"),
    "BSD-2-Clause": ("BSD",),
    "BSD-3-Clause": ("BSD",),
    "GPL-2.0-or-later": ("GNU General Public License",),
    "MPL-2.0": ("Mozilla Public License",),
    "PSF-2.0": ("Python Software Foundation License",),
}


def named(requirement: str) -> str:
    return re.match(r"[\w.-]+", requirement)[0].lower()


def test_every_dependency_is_listed_and_nothing_else():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    needed = [*project["build-system"]["requires"], *project["project"]["dependencies"]]
    needed += [one for extra in project["project"]["optional-dependencies"].values() for one in extra]
    assert {named(one) for one in needed} - {"tgraph"} == LISTED.keys()


@pytest.mark.parametrize("package", LISTED)
def test_the_licence_is_the_one_that_the_package_names(package):
    try:
        said = metadata(package)
    except PackageNotFoundError:
        pytest.skip("it is not installed")
    fields = (said.get("License-Expression"), said.get("License"), *(said.get_all("Classifier") or ()))
    text = " ".join(field for field in fields if field)
    for licence in re.findall(r"[\w.-]*\d[\w.-]*|MIT|LicenseRef-\S+", LISTED[package]):
        assert any(name.lower() in text.lower() for name in (licence, *OLDER.get(licence, ()))), (
            f"{licence}: {text[:200]}"
        )


def test_notices_of_what_is_compiled_in_are_shipped():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    shipped = {path.name for pattern in project["license-files"] for path in ROOT.glob(pattern)}
    assert {"LICENSE", "nanobind.txt", "robin_map.txt"} <= shipped
