# The short commands. Each only calls CMake, ctest or a script; CMakePresets.json says what a build is made of.

JOBS   ?= $(shell nproc)
PREFIX ?= /usr/local
CLANG  ?= $(firstword $(notdir $(shell command -v clang-19 clang)) clang)

.PHONY: all deps demo check slow faults bench fuzz qemu portability sanitizers valgrind recorder-campaign coverage tidy format install dist deb package-test clean help
.DEFAULT_GOAL := all

all: ## build/traceloom, optimised
	@command -v cmake >/dev/null && command -v ninja >/dev/null || { echo "cmake or ninja is missing: run 'make deps'"; exit 1; }
	cmake --preset release
	cmake --build --preset release -j $(JOBS)

deps: ## install what building needs (Debian, Ubuntu)
	tools/install-deps.sh build

demo: ## build, make the files of the README's examples in demo/, report on one: demo/sample.pb.gz, demo/sample.svg
	tools/install-deps.sh build
	@$(MAKE) --no-print-directory all
	tools/demo.sh

.PHONY: picture
picture: demo ## docs/page.png, the page that README shows
	tools/install-deps.sh test
	tools/page-picture.sh

check: ## all tests, with sanitizers
	tools/install-deps.sh test
	@$(MAKE) --no-print-directory all
	cmake --preset dev
	cmake --build --preset dev -j $(JOBS)
	tools/run-ctest.sh build-dev -j $(JOBS)

slow: ## everything that `make check` tries a sample of, and leaks in thousands of short runs
	tools/install-deps.sh slow
	cmake --preset dev
	cmake --build --preset dev -j $(JOBS)
	TL_THOROUGH=1 tools/run-ctest.sh build-dev -j $(JOBS) -L slow

.PHONY: fleet
fleet: ## traces in ClickHouse: real servers, killed at 20 random times (`make check` tries one)
	tools/install-deps.sh fleet
	@$(MAKE) --no-print-directory all
	cmake --preset dev
	cmake --build --preset dev -j $(JOBS) --target traceloom load_without_curl fault_shim
	TL_THOROUGH=1 TL_CLICKHOUSE=$(CURDIR)/build-clickhouse tools/run-ctest.sh build-dev -R '^(fleet[.]|fault[.]load)'

.PHONY: nightly
nightly: ## tests that take too long for each change, some hours: `make slow faults sanitizers recorder-campaign mutants limits portability`
	@failed=; for target in slow faults sanitizers recorder-campaign mutants limits portability; do echo "== make $$target"; $(MAKE) $$target || failed="$$failed $$target"; done; \
	[ -z "$$failed" ] || { echo "failed:$$failed"; exit 1; }

faults: ## the n-th allocation, read, write, open, ... fails, for every n (`make check` tries a sample)
	tools/install-deps.sh test
	@$(MAKE) --no-print-directory all
	cmake --preset dev
	cmake --build --preset dev -j $(JOBS)
	TL_FAULT_ALL=1 tools/run-ctest.sh build-dev -j $(JOBS) -L fault

bench: ## speed and memory, compared with llvm-xray, babeltrace2, uftrace and hand-written limits: ARGS=--write
	tools/install-deps.sh bench
	@$(MAKE) --no-print-directory all
	bench/run.py $(ARGS)

fuzz: ## 10 minutes for each target: SECONDS_EACH=600
	tools/install-deps.sh fuzz
	cmake --preset fuzz -DCMAKE_C_COMPILER=$(CLANG)
	cmake --build --preset fuzz -j $(JOBS)
	fuzz/run.sh build-fuzz $(SECONDS_EACH)

.PHONY: campaign hostile mutants
mutants: ## do the tests notice small changes of the code? AREAS="xray op" COUNT=30 SEED=1, or REPLAY=FILE:LINE
	tools/install-deps.sh test
	test/mutants/mutants.py build-mutants --jobs $(JOBS) $(if $(AREAS),--areas "$(AREAS)") $(if $(COUNT),--count $(COUNT)) \
	    $(if $(SEED),--seed $(SEED)) $(if $(REPLAY),--replay $(REPLAY))

.PHONY: limits
limits: ## does the test of each limit in SECURITY.md reach it? A quarter of an hour, and once more to build
	tools/install-deps.sh test
	test/mutants/limit_mutants.py build-mutants $(NAMES)

campaign: ## libFuzzer and AFL++ on each target, at least this long and until they find nothing new, a day: SECONDS_EACH=1800 STILL=600
	tools/install-deps.sh fuzz
	cmake --preset fuzz -DCMAKE_C_COMPILER=$(CLANG)
	cmake --build --preset fuzz -j $(JOBS)
	cmake --preset fuzz -B build-afl -DCMAKE_C_COMPILER=afl-clang-fast -DTRACELOOM_WERROR=OFF
	cmake --build build-afl -j $(JOBS)
	fuzz/campaign.py --libfuzzer build-fuzz --afl build-afl --out build-fuzz/campaign --results fuzz/results.md \
	    $(if $(SECONDS_EACH),--seconds $(SECONDS_EACH)) $(if $(STILL),--still $(STILL))

hostile: ## every change of a byte and every truncation of every small trace, hours: CHANGES=10000 takes that many of each group
	tools/install-deps.sh test
	cmake --preset dev
	cmake --build --preset dev -j $(JOBS) --target hostile_driver
	cmake --preset release -B build-hostile -DTRACELOOM_TESTS=ON
	cmake --build build-hostile -j $(JOBS) --target hostile_driver
	test/hostile/all.sh build-dev/test/hostile_driver build-hostile/test/hostile_driver $(CHANGES)

qemu: ## unit and golden tests on a 32-bit and on a big-endian host, and the recorder on AArch64
	tools/install-deps.sh qemu
	cmake --preset m32
	cmake --build --preset m32 -j $(JOBS)
	tools/run-ctest.sh build-m32 -j $(JOBS) -L 'unit|golden'
	cmake --preset s390x
	cmake --build --preset s390x -j $(JOBS)
	tools/run-ctest.sh build-s390x -j $(JOBS) -L 'unit|golden'
	cmake --preset aarch64
	cmake --build --preset aarch64 -j $(JOBS)
	tools/run-ctest.sh build-aarch64 -j $(JOBS) -R '^(unit\.test_(rt|a64)_|lint\.|rt\.)'

portability: ## compilers, processors, C libraries, locales, odd folders: build-portability/table.txt; ROWS="musl spaces"
	tools/install-deps.sh portability
	tools/portability.sh build-portability $(ROWS)

sanitizers: ## the tests under ThreadSanitizer, and under MemorySanitizer without the optional libraries
	tools/install-deps.sh test
	cmake --preset tsan
	cmake --build --preset tsan -j $(JOBS)
	tools/run-ctest.sh build-tsan -j $(JOBS) -L 'unit|golden|differential'
	cmake --preset msan -DCMAKE_C_COMPILER=$(CLANG)
	cmake --build --preset msan -j $(JOBS)
	tools/run-ctest.sh build-msan -j $(JOBS) -L 'unit|golden|differential'

valgrind: ## the unit tests under valgrind
	tools/install-deps.sh test
	cmake --preset valgrind
	cmake --build --preset valgrind -j $(JOBS)
	tools/run-ctest.sh build-valgrind -j $(JOBS) -L unit

recorder-campaign: ## the recorder: every program, kind of hook and mode, and thousands of kills; about an hour
	tools/install-deps.sh test
	cmake --preset dev
	cmake --build --preset dev -j $(JOBS)
	test/rt/rt_campaign.py build-dev $(JOBS)

coverage: ## which lines the tests run: build-coverage/coverage.txt
	tools/install-deps.sh test
	cmake --preset coverage
	cmake --build --preset coverage -j $(JOBS)
	tools/run-ctest.sh build-coverage -j $(JOBS) -L 'unit|golden|differential|roundtrip|cli'
	tools/coverage.py build-coverage

tidy: ## clang-tidy over the sources
	cmake --preset dev
	git ls-files 'src/*.c' 'src/**/*.c' | xargs -P $(JOBS) -n 4 clang-tidy -p build-dev --quiet

format: ## clang-format over the sources
	git ls-files '*.c' '*.h' | xargs clang-format -i

install: ## DESTDIR= PREFIX=/usr/local; with sudo, run make first
	@if [ -O . ]; then $(MAKE) --no-print-directory all; elif [ ! -x build/traceloom ]; then echo "build/traceloom is missing: run 'make' first, without sudo"; exit 1; fi
	DESTDIR=$(DESTDIR) cmake --install build --prefix $(PREFIX)
	@rm -f build/install_manifest.txt

dist: ## the release tarball of the last commit, always the same bytes: build-dist/traceloom-VERSION.tar.gz
	tools/dist.sh build-dist

deb: ## Debian packages of the last commit: build-deb/*.deb
	tools/install-deps.sh package
	tools/deb.sh build-deb

.PHONY: python
python: ## the wheel of the module for Python, with the library: build-python/traceloom-VERSION-py3-none-PLATFORM.whl
	tools/install-deps.sh python
	cmake --preset release
	cmake --build --preset release -j $(JOBS) --target libtraceloom-shared
	tools/wheel.sh build build-python

package-test: ## build the packages in a clean root, use and remove them in another; as root
	tools/install-deps.sh package
	test/package/package_test.sh

clean: ## remove every build folder
	rm -rf build build-*/ demo

help:
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 20
