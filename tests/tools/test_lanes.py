"""The scripts behind the two commands: lanes, stamps, quiet runs, the search for what is missing."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

TOOLS = Path(__file__).resolve().parents[2] / "tools"


class ScriptCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def bash(self, script, **environment):
        return subprocess.run(["bash", "-c", script], cwd=self.folder, capture_output=True, text=True,
                              env={**os.environ, "TOOLS": str(TOOLS), **environment}, timeout=60)


class Lanes(ScriptCase):
    def lanes(self, *lines):
        return self.bash("\n".join([". $TOOLS/lanes.sh", *lines, "close_lanes"]))

    def test_all_pass(self):
        run = self.lanes("lane one 9 true", "lane two 9 echo fine")
        self.assertEqual(0, run.returncode)
        self.assertIn("lanes: 2 passed, 0 failed, 0 skipped\n", run.stdout)

    def test_failure_shows_the_log(self):
        run = self.lanes("lane one 9 true", "lane two 9 ls /nowhere", "lane three 9 true")
        self.assertEqual(1, run.returncode)
        self.assertIn("/nowhere", run.stdout)
        self.assertIn("lanes: 2 passed, 1 failed, 0 skipped\n", run.stdout)

    def test_skipped_with_reason(self):
        run = self.lanes("no() { echo 'no headers'; return 77; }", "export -f no", "lane one 9 no",
                         "lane two 9 true")
        self.assertEqual(0, run.returncode)
        self.assertRegex(run.stdout, r"skipped +one .* no headers\n")
        self.assertIn("lanes: 1 passed, 0 failed, 1 skipped\n", run.stdout)

    def test_nothing_but_skips_is_no_success(self):
        self.assertEqual(1, self.lanes("lane one 9 bash -c 'exit 77'").returncode)

    def test_time_limit(self):
        run = self.lanes("lane one 1 sleep 60")
        self.assertEqual(1, run.returncode)
        self.assertIn("stopped after 1 s", run.stdout)

    def test_no_input(self):
        self.assertEqual(0, self.lanes("lane one 9 bash -c '! read -r line'").returncode)


class Stamps(ScriptCase):
    def test_runs_again_only_after_a_change_or_a_failure(self):
        def ran():
            self.bash("$TOOLS/stamp.sh stamp in -- sh -c 'echo ran >>log; test ! -e in/bad'")
            return (self.folder / "log").read_text().count("ran")

        (self.folder / "in").mkdir()
        (self.folder / "in" / "a").write_text("1")
        self.assertEqual([1, 1], [ran(), ran()])
        (self.folder / "in" / "a").write_text("2")
        self.assertEqual([2, 2], [ran(), ran()])
        (self.folder / "in" / "bad").write_text("")
        self.assertEqual([3, 4], [ran(), ran()])
        (self.folder / "in" / "bad").unlink()
        self.assertEqual([5, 5], [ran(), ran()])


class Quiet(ScriptCase):
    def test_log_is_shown_on_failure_alone(self):
        run = self.bash("$TOOLS/quiet.sh name echo text")
        self.assertEqual((0, "", ""), (run.returncode, run.stdout, run.stderr))
        run = self.bash("$TOOLS/quiet.sh name sh -c 'echo text; exit 3'")
        self.assertEqual(3, run.returncode)
        self.assertIn("text", run.stderr)
        self.assertIn("build/logs/name.log", run.stderr)


class Setup(ScriptCase):
    def test_not_root_names_what_is_missing(self):
        fakes = {"id": "echo 1000", "cmake": "echo cmake version 3.18.4"}
        for name, body in fakes.items():
            path = self.folder / name
            path.write_text(f"#!/bin/sh\n{body}\n")
            path.chmod(0o755)
        run = self.bash("$TOOLS/setup.sh", PATH=f"{self.folder}:{os.environ['PATH']}")
        self.assertEqual(1, run.returncode)
        self.assertEqual(1, run.stderr.count("\n"))
        self.assertIn("missing: cmake", run.stderr)

    def test_python_that_is_not_there(self):
        run = self.bash("$TOOLS/find_python.sh 3.99")
        self.assertEqual(1, run.returncode)
        self.assertIn("python3.99", run.stderr)


if __name__ == "__main__":
    unittest.main()
