"""The files of the tree: what a commit of everything would hold."""

import subprocess

SKIPPED = {".git", ".venv", "build", "dist", "__pycache__", ".pytest_cache", ".mypy_cache", "node_modules"}


def tree_files(root):
    """Sorted paths: git's view where there is a checkout, else all but what builds leave behind."""
    command = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        names = subprocess.run(command, capture_output=True, check=True).stdout.decode().split("\0")
        found = [root / name for name in names if name]
    except (OSError, subprocess.CalledProcessError):
        found = [p for p in root.rglob("*") if not SKIPPED & set(p.relative_to(root).parts)]
    return sorted(path for path in found if path.is_file())
