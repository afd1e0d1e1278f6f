"""Builds the package for pip. It needs nothing but Python, so that pip installs the client without asking an index."""

import base64
import csv
import hashlib
import io
import re
import tarfile
import zipfile
from pathlib import Path

HERE = Path(__file__).parent


def _field(name):
    return re.search(rf'^{name} = "(.+)"$', (HERE / "pyproject.toml").read_text("utf-8"), re.MULTILINE)[1]


VERSION = _field("version")
STEM = f"{_field('name').replace('-', '_')}-{VERSION}"


def _metadata():
    return (
        f"Metadata-Version: 2.1\nName: {_field('name')}\nVersion: {VERSION}\nSummary: {_field('description')}\n"
        f"Requires-Python: {_field('requires-python')}\nDescription-Content-Type: text/markdown\n\n"
        + (HERE / "README.md").read_text("utf-8")
    )


def _modules():
    return sorted(p for p in (HERE / "boon_gifts").iterdir() if p.suffix == ".py" or p.name == "py.typed")


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    files = {f"boon_gifts/{p.name}": p.read_bytes() for p in _modules()}
    info = f"{STEM}.dist-info"
    files[f"{info}/METADATA"] = _metadata().encode()
    files[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: boon\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    record = io.StringIO()
    rows = csv.writer(record, lineterminator="\n")
    for name, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        rows.writerow([name, f"sha256={digest}", len(content)])
    rows.writerow([f"{info}/RECORD", "", ""])
    files[f"{info}/RECORD"] = record.getvalue().encode()
    wheel = f"{STEM}-py3-none-any.whl"
    with zipfile.ZipFile(Path(wheel_directory) / wheel, "w", zipfile.ZIP_DEFLATED) as out:
        for name, content in files.items():
            out.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), content)
    return wheel


def build_sdist(sdist_directory, config_settings=None):
    sdist = f"{STEM}.tar.gz"
    with tarfile.open(Path(sdist_directory) / sdist, "w:gz") as out:
        for path in [*_modules(), HERE / "pyproject.toml", HERE / "README.md", HERE / "build_wheel.py"]:
            out.add(path, f"{STEM}/{path.relative_to(HERE)}")
        content = _metadata().encode()
        member = tarfile.TarInfo(f"{STEM}/PKG-INFO")
        member.size = len(content)
        out.addfile(member, io.BytesIO(content))
    return sdist
