# The commands of this tree. The C build itself is CMake's: see CMakePresets.json.

help:
	@echo 'make demo      install what is missing, build into .venv, profile examples/heat'
	@echo 'make test      checks, C tests, the Python suite, the core suite on other Pythons'
	@echo 'make test-all  also sanitizers, long suites, packages, the other Debian release'
	@echo 'make bench     measure against the floors'
	@echo 'make clean     remove build and .venv'

demo:
	@tools/demo.sh

test:
	@tools/test.sh quick

test-all:
	@tools/test.sh quick extra

bench:
	@tools/prepare.sh test
	@bench/run.sh

clean:
	rm -rf --one-file-system build .venv

.PHONY: help demo test test-all bench clean
