"""Sources that crates carry along, in the versions of their day.

In:  a crate and its version.
Out: the folder that it is unpacked in.
"""

from pathlib import Path

from .process import sh


def fetch(name: str, version: str, work: Path) -> Path:
    """Fetches a crate by cargo, without building it."""
    place = work / "crates" / f"{name}-{version}"
    found = place / "vendor" / name
    if not found.exists():
        (place / "src").mkdir(parents=True, exist_ok=True)
        (place / "src/lib.rs").write_text("")
        (place / "Cargo.toml").write_text(
            f'[package]\nname = "sources"\nversion = "0.0.0"\nedition = "2021"\n\n'
            f'[dependencies]\n{name} = "={version}"\n\n[workspace]\n')
        sh(["cargo", "vendor", "--quiet", "vendor"], cwd=place)
    return found
