"""Writes docs/guide/settings.md from the table of settings of the recorder.

    .venv/bin/python tools/generate_settings_page.py > docs/guide/settings.md

The table is src/session/settings_table.c, asked through the installed package. A test holds the page
to it.
"""

import sys

from scope_profiler import _settings

HEAD = """# Settings of a run

Keywords of `setup()` and `session()`, fields of `ProfilingOptions`, names in a TOML file. What is given
as `None` counts as not given. Keywords win over `options=`, those over the file of `config_path=`, that
over the defaults. A name that is no setting is an error that tells the closest one.

"""

TAIL = """
## Option groups

`ProfilingOptions` and `setup()` also take settings of one subject together. Giving one of them both ways
is an error.

{groups}

## TOML

```toml
[profiling]
label = "strong scaling"
track_threads = true

[profiling.hdf5]
compression = "gzip"
compression_level = 4
```

Without a table `[profiling]` the settings stand at the top. The tables `[profiling.memray]`,
`[profiling.gpu]` and `[profiling.hdf5]` have the short names of the option groups.

Programs in C, C++ and Fortran read the same file: `sp_configure_file` or the variable
`SCOPE_PROFILER_CONFIG` names it. Switches that only Python knows do nothing there and are named on
standard error.

## Environment

`SCOPE_PROFILER_ENABLE_TAGS` is always read: tags separated by commas, in addition to `enable_tags`.
`setup_from_env()` also reads `SCOPE_PROFILER_CONFIG` (TOML file), `SCOPE_PROFILER_OUTPUT` (`output`),
`SCOPE_PROFILER_RECURSIVE` and `SCOPE_PROFILER_AUTO_FINALIZE` (`1`, `true`, `yes`, `on` mean yes).
"""


def rows():
    yield "| Setting | Type | Default | Meaning |"
    yield "| --- | --- | --- | --- |"
    for setting in _settings.SETTINGS:
        kind = setting.type.replace("|", "or")
        yield f"| `{setting.name}` | {kind} | `{setting.default!r}` | {setting.help} |"


def groups():
    yield "| Group | Field | Setting |"
    yield "| --- | --- | --- |"
    for group, fields in _settings.GROUPS.items():
        for field, flat in fields.items():
            yield f"| `{group}` | `{field}` | `{flat}` |"


def page():
    return HEAD + "\n".join(rows()) + "\n" + TAIL.format(groups="\n".join(groups()))


if __name__ == "__main__":
    sys.stdout.write(page())
