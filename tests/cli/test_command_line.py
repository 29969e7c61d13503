"""Help, versions, and what a wrong command line gets."""

import re

import pytest

PROGRAM_HELP = """\
usage: scope-profiler [--version] [--help] <command> ...

Records where the time of a program goes and shows it.

commands:
  run                     run a Python script or a native program and record it
  inspect                 show the metadata and the regions of profiles
  report                  make a page for the browser of profiles
  line-profile            show time by line
  diff                    compare two profiles, or two groups of them
  check                   fail when profiles got slower than a budget allows
  export                  write profiles in the format of another tool
  plot                    draw figures of profiles
  convert                 write a profile in another format
  merge                   make one profile of several
  import-native           make one profile of the files of a native program
  recover                 make a profile of a recording that did not end well
  top                     look into a running program
  config                  tell how to build programs that record
  doctor                  show what is found on this machine, and what to do
                          about troubles
  completion              print a script that completes commands in a shell
  help                    explain a command

options:
  -h, --help              show this help and exit
  --version               show the version and exit

exit codes:
  0                       done
  1                       it could not be done
  2                       the command line makes no sense
  3                       a file is there but is no readable profile: another
                          format, damaged, of a newer version

'scope-profiler <command> --help' explains a command.
"""

INSPECT_HELP = """\
usage: scope-profiler inspect [options] FILE...

Shows what is in one or more profiles: title and size, metadata, regions.
FILE may be a pattern such as 'runs/*.h5'.

options:
  -h, --help              show this help and exit
  -i, --include REGEX     only regions whose name starts with a match of REGEX;
                          may be repeated
  -e, --exclude REGEX     leave out regions whose name starts with a match of
                          REGEX; may be repeated
  -r, --ranks RANK...     only these ranks: numbers and ranges, as in 0 2 4-7
  --skip-calls [REGION=]N
                          leave out warm-up: the first N calls of each region
                          that has more, or of REGION; may be repeated
  --warmup REGION         leave out what was before the last call of REGION had
                          ended
  --from SECONDS          leave out what was before, counted from the first
                          entry
  --to SECONDS            leave out what was after
  --sort KEY              order of the regions (default: start): start, total,
                          calls, avg, min, max, first, last, std, p50, p95, p99,
                          imbalance, name
  --columns COLUMN...     columns of the table: region, ranks, calls, total,
                          percent, parent_percent, avg, min, max, first, last,
                          std, p50, p95, p99, imbalance, gpu_total, gpu_avg
  --percentage-mode MODE  what the percentages count: coverage, exclusive
  --reduce HOW            what becomes of several ranks (default: pooled, all
                          calls together): pooled, max, mean, min, sum
  --top N                 only the N most important rows: by the sort key, in
                          order of start by total
  --depth N               only N levels of calls
  --min-percent P         leave out rows with less than P percent of the largest
                          row's total
  --full                  do not shorten long metadata values
  --source NAME...        show where these regions are defined, and their source
                          text
  --mpi                   show the calls of MPI: time by rank and operation,
                          messages between ranks
  --export-metadata PATH  write the metadata of all files as JSON to PATH ('-':
                          standard output)
  --plot                  draw durations and a timeline as block characters, as
                          wide as the terminal
  -q, --quiet             print nothing; for --export-metadata, and to check
                          that files can be read
  --metadata-only         leave out the region table
  --regions-only          leave out the metadata
  --json                  print one JSON document of all files

exit codes:
  0                       done
  1                       it could not be done; of several files the first that
                          failed tells
  2                       the command line makes no sense
  3                       a file is there but is no readable profile: another
                          format, damaged, of a newer version
"""

RUN_OPTIONS = [
    "-m, --module MODULE", "-c, --command CODE", "--max-depth N", "--min-duration TIME", "--c-calls", "--min-percent P", "-o, --outfile PATH", "--no-output", "-q, --quiet", "--label TEXT", "--config FILE",
    "--recursive", "--no-recursive", "--all", "--include GLOB", "--exclude GLOB",
    "--entrypoint NAME", "--tag TAG", "--enable-tag TAG", "--line-profile", "--memory-profile",
    "--buffer-limit N", "--aggregation-mode", "--mpi-calls", "--no-mpi-calls",
]


def test_no_arguments_prints_help_and_fails(command):
    result = command()
    assert (result.code, result.out, result.err) == (1, PROGRAM_HELP, "")


@pytest.mark.parametrize("words", [["--help"], ["-h"], ["help"]])
def test_help(command, words):
    result = command(*words)
    assert (result.code, result.out, result.err) == (0, PROGRAM_HELP, "")


@pytest.mark.parametrize("words", [["inspect", "--help"], ["inspect", "-h"], ["help", "inspect"],
                                   ["inspect", "x.h5", "--help"]])
def test_help_of_a_command(command, words):
    result = command(*words)
    assert (result.code, result.out, result.err) == (0, INSPECT_HELP, "")


def test_run_help_names_every_option(command):
    result = command("run", "--help")
    assert result.code == 0
    lines = [line.strip() for line in result.out.splitlines()]
    for option in RUN_OPTIONS:
        assert any(line == option or line.startswith(option + "  ") for line in lines), option
    assert result.out.startswith(
        "usage: scope-profiler run [options] SCRIPT|-m MODULE|-c CODE|-- PROGRAM [ARGS]\n")


def test_help_lines_fit_a_terminal(command):
    for name in ("run", "inspect", "report", "diff", "check", "export", "plot", "convert", "merge", "completion", "doctor", "help"):
        assert max(map(len, command("help", name).out.splitlines())) <= 90


def test_version(command):
    result = command("--version")
    assert result.code == 0 and result.err == ""
    assert re.fullmatch(r"scope-profiler \d+\.\d+\.\d+\S*\n", result.out)


def test_unknown_command(command):
    result = command("inspekt", "x.h5")
    assert result.code == 2 and result.out == ""
    assert result.err == (
        "usage: scope-profiler [--version] [--help] <command> ...\n"
        "scope-profiler: error: argument command: invalid choice: 'inspekt' "
        "(choose from 'run', 'inspect', 'report', 'line-profile', 'diff', 'check', 'export', 'plot', 'convert', 'merge', 'import-native', 'recover', 'top', 'config', 'doctor', 'completion', 'help')\n")


@pytest.mark.parametrize("words, message", [
    (["inspect"], "the following arguments are required: FILE..."),
    (["inspect", "--nonsense", "x.h5"], "unrecognized arguments: --nonsense"),
    (["inspect", "-z", "x.h5"], "unrecognized arguments: -z"),
    (["inspect", "x.h5", "--in"], "argument --include: expected one value"),
    (["inspect", "x.h5", "--sort"], "argument --sort: expected one value"),
    (["inspect", "x.h5", "--sort", "--full"], "argument --sort: expected one value"),
    (["inspect", "x.h5", "--source"], "argument --source: expected at least one value"),
    (["inspect", "x.h5", "--sort=speed"],
     "argument --sort: invalid choice: 'speed' (choose from 'start', 'total', 'calls', 'avg', 'min', "
     "'max', 'first', 'last', 'std', 'p50', 'p95', 'p99', 'imbalance', 'name')"),
    (["inspect", "x.h5", "--full=yes"], "argument --full: takes no value, got 'yes'"),
    (["inspect", "x.h5", "--s"], "ambiguous option: --s"),
    (["inspect", "x.h5", "--metadata-only", "--regions-only"],
     "argument --regions-only: not allowed with argument --metadata-only"),
    (["inspect", "x.h5", "--ranks", "one"],
     "argument --ranks: 'one' is not a rank or a range of ranks; write them as in 0 2 4-7"),
    (["inspect", "x.h5", "--ranks", "7-4"],
     "argument --ranks: '7-4' is not a rank or a range of ranks; write them as in 0 2 4-7"),
    (["inspect", "x.h5", "--ranks", "99999999999999999999"],
     "argument --ranks: '99999999999999999999' is not a rank or a range of ranks; "
     "write them as in 0 2 4-7"),
    (["run"], "the following arguments are required: SCRIPT|-m MODULE|-c CODE|-- PROGRAM [ARGS]"),
    (["run", "-o", "a.h5", "--no-output", "x.py"],
     "argument --no-output: not allowed with argument --outfile"),
    (["doctor", "now"], "unrecognized arguments: now"),
    (["help", "nothing"], "no command 'nothing'; 'scope-profiler help' lists them"),
])
def test_usage_errors(command, words, message):
    result = command(*words)
    assert (result.code, result.out) == (2, "")
    usage, error = result.err.splitlines()
    assert usage.startswith(f"usage: scope-profiler {words[0]} [options]")
    assert error == f"scope-profiler {words[0]}: error: {message}"


def test_output_that_cannot_be_written_is_a_failure(command, command_path):
    import subprocess
    with open("/dev/full", "wb") as full:
        done = subprocess.run([command_path, "--help"], stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 1
    assert done.stderr.decode() == (
        "scope-profiler: cannot write to standard output: No space left on device\n")


def test_start_loads_no_library_beyond_libc(command, command_path):
    """What makes the command start in milliseconds: HDF5 is opened with the first file only."""
    import subprocess
    listing = subprocess.run(["ldd", command_path], capture_output=True, text=True).stdout
    libraries = {line.split()[0].split("/")[-1] for line in listing.splitlines()}
    allowed = re.compile(r"linux-vdso|ld-linux|ld-musl|libc\.|libm\.|libdl\.|libpthread\.|"
                         r"lib[a-z]*asan|libubsan|libtsan|libgcc_s|libstdc")
    assert libraries and all(allowed.match(name) for name in libraries), libraries
