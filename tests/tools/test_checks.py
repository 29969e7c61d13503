"""Each check finds what it is there for, and nothing in a tree that is right."""

import importlib.util
import sys
import tempfile
import unittest
from pathlib import Path

TOOLS = Path(__file__).resolve().parents[2] / "tools"
sys.path.insert(0, str(TOOLS))


def load(name):
    spec = importlib.util.spec_from_file_location(name, TOOLS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class TreeCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


class Includes(TreeCase):
    def found(self, name, *includes):
        self.write(name, "".join(f"#include {include}\n" for include in includes))
        return load("check_includes").check(self.root)

    def test_lower_layers_and_public_headers_are_fine(self):
        self.assertEqual([], self.found("src/results/run.c", '"results/run.h"', '"base/error.h"',
                                        '"store/reader.h"', '"scope_results.h"', "<stdlib.h>"))

    def test_upward_edge(self):
        found = self.found("src/base/map.c", '"base/map.h"', '"log/block.h"')
        self.assertEqual(1, len(found))
        self.assertTrue(found[0].startswith("src/base/map.c:2: includes log/block.h"))

    def test_equals_do_not_see_each_other(self):
        self.assertEqual(1, len(self.found("src/clock/ticks.c", '"registry/names.h"')))

    def test_halves_of_the_store(self):
        self.assertEqual(1, len(self.found("src/session/publish.c", '"store/reader.h"')))
        self.assertEqual(2, len(self.found("src/results/run.c", '"store/assemble.h"')))

    def test_system_headers_belong_to_base_os(self):
        self.assertEqual([], self.found("src/base/os/file.c", "<unistd.h>", "<sys/mman.h>"))
        self.assertEqual(2, len(self.found("src/base/text.c", "<unistd.h>", "<sys/mman.h>")))

    def test_hdf5_belongs_to_its_store(self):
        self.assertEqual([], self.found("src/store/hdf5/write.c", "<hdf5.h>"))
        self.assertEqual(1, len(self.found("src/results/run.c", "<hdf5.h>")))

    def test_command_sees_no_layer(self):
        self.write("cli/command.h", "")
        self.assertEqual([], self.found("cli/main.c", '"command.h"', '"scope_results.h"', "<unistd.h>"))
        self.assertEqual(1, len(self.found("cli/main.c", '"results/run.h"')))

    def test_binding_sees_one_private_header(self):
        name = "bindings/python/src/region.c"
        self.assertEqual([], self.found(name, '"session/binding.h"', "<Python.h>"))
        self.assertEqual(1, len(self.found(name, '"session/session.h"')))

    def test_back_ends_do_not_see_each_other(self):
        self.assertEqual([], self.found("src/backends/perf/perf.c", '"backends/perf/perf.h"'))
        self.assertEqual(1, len(self.found("src/backends/perf/perf.c", '"backends/mpi/mpi.h"')))


class Lengths(TreeCase):
    def found(self, name, text):
        self.write(name, text)
        return load("check_lengths").check(self.root)

    def test_c_function(self):
        text = "int shorter(void)\n{\n" + "    ;\n" * 97 + "}\n"
        self.assertEqual([], self.found("a.c", text))
        text = "static int\nlonger(int a,\n       int b)\n{\n" + "    ;\n" * 96 + "}\n"
        self.assertEqual(["a.c:1: longer has 101 lines, at most 100"], self.found("a.c", text))

    def test_brace_on_the_line_of_the_function(self):
        text = "static int longer(int a,\n                  int b) {\n" + "    ;\n" * 98 + "}\n"
        self.assertEqual(["a.c:1: longer has 101 lines, at most 100"], self.found("a.c", text))
        self.assertEqual([], self.found("a.c", "struct s {\n" + "    int a;\n" * 200 + "};\n"))

    def test_comment_above_does_not_count(self):
        text = "/* why */\nint f(void)\n{\n" + "    ;\n" * 97 + "}\n"
        self.assertEqual([], self.found("a.c", text))

    def test_python_function(self):
        self.assertEqual([], self.found("a.py", "def f():\n" + "    pass\n" * 99))
        self.assertEqual(1, len(self.found("a.py", "def f():\n" + "    pass\n" * 100)))

    def test_fortran_function(self):
        body = "  x = 1\n" * 99
        found = self.found("a.f90", f"subroutine f(x)\n{body}end subroutine f\n")
        self.assertEqual(["a.f90:1: f has 101 lines, at most 100"], found)

    def test_file(self):
        self.assertEqual([], self.found("a.c", "\n" * 800))
        self.assertEqual(["a.c: 801 lines, at most 800"], self.found("a.c", "\n" * 801))


class Headers(TreeCase):
    def test_header_that_stands_alone(self):
        self.write("include/a.h", "#ifndef A\n#define A\n#include <stddef.h>\nsize_t a(void);\n#endif\n")
        self.assertEqual([], load("check_headers").check(self.root))

    def test_missing_include_and_cpp_keyword(self):
        self.write("include/a.h", "#ifndef A\n#define A\nsize_t a(void);\n#endif\n")
        self.assertEqual(6, len(load("check_headers").check(self.root)))
        self.write("include/a.h", "#ifndef A\n#define A\nint a(int class);\n#endif\n")
        found = load("check_headers").check(self.root)
        self.assertEqual(4, len(found))
        for year, text in zip((11, 14, 17, 20), found):
            self.assertIn(f"-std=c++{year}", text)

    def test_a_source_to_compile_along(self):
        self.write("include/a.c", "#include <stdint.h>\nint32_t a(int64_t b);\nint32_t a(int64_t b)\n"
                                  "{\n    return b;\n}\n")
        found = load("check_headers").check(self.root)
        self.assertEqual(2, len(found), "C alone, and no conversion without a word")


class Words(TreeCase):
    def found(self, line):
        self.write("docs/GUIDE.md", "")
        self.write("README.md", line + "\n")
        return load("check_words").check(self.root)

    def test_plain_text(self):
        for line in ("see docs/GUIDE.md", "a share of $HOME/work/x", "the issue of 2 threads",
                     'xmlns="http://www.w3.org/2000/svg"', "/usr/bin/python3"):
            with self.subTest(line):
                self.assertEqual([], self.found(line))

    def test_what_does_not_belong(self):
        for line in ("cd /root/project", "/work/tree/file", "/home/alice/x", "https://host.test/x",
                     "files.pypi.org", "as issue 12 says", "cp ../shared/x .", "see PLAN.md"):
            with self.subTest(line):
                self.assertEqual(1, len(self.found(line)), self.found(line))


class Tree(unittest.TestCase):
    def test_git_and_plain_folder_agree(self):
        tree = load("tree")
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            (root / "build").mkdir()
            (root / "build" / "x.c").write_text("")
            (root / "a.c").write_text("")
            self.assertEqual([root / "a.c"], tree.tree_files(root))


if __name__ == "__main__":
    unittest.main()
