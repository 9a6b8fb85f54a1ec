# Every target runs in the active conda or virtual environment if that has this copy of the course and the packages that the
# target needs, in the versions of requirements.txt; otherwise in .venv, which is created and filled on first use. See
# course/gradlab/setup/.

PYTHON := $(firstword $(foreach name,python3 python,$(if $(shell command -v $(name)),$(name))))
GRADLAB = $(or $(PYTHON),$(error Python was not found; install Python 3.11 to 3.14, or name it: PYTHON=…)) -I course/gradlab
RUN = @$(GRADLAB) run
# Only from the command line: gettext reads an environment variable of the same name
IN_LANGUAGE = $(if $(filter command,$(origin LANGUAGE)),--language $(LANGUAGE))
CLASS_OPTION = $(if $(CLASS),--class "$(CLASS)")
CLASS_FOLDER = $(or $(CLASS),grading/class)

.DEFAULT_GOAL := help
.PHONY: help setup lab doctor test test-all elsewhere redteam check notebooks validate-checks student-archive site lock formgrader release week grade feedback solutions demo bench pictures clean

help:  ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup:  ## Install what the course and its tests need, if anything is missing
	@$(GRADLAB) setup

lab:  ## Open the course in JupyterLab, on your own copy in workspace/; ANSWERS=FILE, which you took home from the site
	@$(GRADLAB) lab $(if $(ANSWERS),--answers "$(ANSWERS)")

doctor:  ## Say what is missing or has the wrong version, and how to fix it
	@$(GRADLAB) doctor

test:  ## Run the tests, including browser and notebooks; PARTS="browser nbval", CHAPTER=08
	@$(GRADLAB) setup
	$(RUN) tools/run_tests.py $(PARTS) $(if $(CHAPTER),--chapter $(CHAPTER))

test-all: test  ## Run the tests, then the slow ones: every chapter's walk, all slips, all attacks
	$(RUN) tools/run_tests.py --rest

elsewhere:  ## Run notebooks and checks on a different kind of processor, which this one imitates
	$(RUN) tools/run_tests.py nbval nbval-solved records checks --other-processor

redteam:  ## Try every attack on grading, each with its honest twin, and print a table
	@cd grading/tests && $(PYTHON) -I ../../course/gradlab run -m attacks $(WORDS)

check:  ## Check style, format, types, spelling and phrases, and list stale generated files
	$(RUN) -m ruff check
	$(RUN) -m ruff format --check
	$(RUN) -m mypy
	$(RUN) -m codespell_lib
	$(RUN) -c 'import importlinter.cli; importlinter.cli.lint_imports_command()'
	$(RUN) -m authoring check
	$(RUN) tools/readme_pictures.py

notebooks:  ## Build the student edition of the chapters that changed; LANGUAGE=xx: all, in that language, in build/xx/
	$(RUN) -m authoring build $(IN_LANGUAGE)

validate-checks:  ## Try every check on right answers, known slips and constants; only some: NAMES="05 06.1"
	$(RUN) -m authoring validate $(NAMES)

student-archive:  ## Pack what a student needs, and nothing else, into build/autograd-course.zip; LANGUAGE=xx
	$(RUN) -m authoring archive $(IN_LANGUAGE)

# Two kernels run side by side, forked from a process that has imported torch, and tqdm.
site: export OMP_NUM_THREADS = 1
site: export TQDM_DISABLE = 1
site:  ## Build the site, to read, guess and write in without a kernel, in build/site/
	@$(GRADLAB) setup
	$(RUN) tools/kernels.py with $(GRADLAB) run -m authoring site

lock:  ## Generate requirements.lock from requirements.txt: the version of every package, on every system
	$(RUN) -m uv pip compile --universal --python-version 3.11 --no-header --no-annotate --quiet requirements.txt -o requirements.lock

formgrader:  ## Open nbgrader's Formgrader on the class in grading/class/
	$(RUN) -m autograder formgrader $(CLASS_OPTION)

release:  ## Generate and release an assignment: make release ASSIGNMENT=02_external_gradients DUE="2026-11-02 18:00"
	$(RUN) -m autograder release $(ASSIGNMENT) $(if $(DUE),--due "$(DUE)") $(CLASS_OPTION)

week:  ## Import, grade, report, return, export (with WORDS="--gradebook FILE"): make week ASSIGNMENT=02_external_gradients ARCHIVE=submissions.zip
	$(RUN) -m autograder week $(ASSIGNMENT) $(if $(ARCHIVE),"$(ARCHIVE)") $(WORDS) $(CLASS_OPTION)

grade:  ## Grade a class's submissions: make grade ASSIGNMENT=02_external_gradients, CLASS=folder of another class
	$(RUN) -m autograder grade $(ASSIGNMENT) $(CLASS_OPTION)

feedback:  ## Return the feedback on an assignment: make feedback ASSIGNMENT=02_external_gradients
	$(RUN) -m autograder feedback $(ASSIGNMENT) $(CLASS_OPTION)

solutions:  ## Write an assignment's solved chapter as a page, into the class: make solutions ASSIGNMENT=02_external_gradients
	$(RUN) -m nbconvert --to html --embed-images --TagRemovePreprocessor.enabled=True \
	  --TagRemovePreprocessor.remove_cell_tags=reference --output-dir "$(CLASS_FOLDER)/solutions" \
	  "$(CLASS_FOLDER)/source/$(ASSIGNMENT)/$(ASSIGNMENT).ipynb"

demo:  ## Collect and grade a made-up class of twelve, and return feedback; LANGUAGE=xx
	$(RUN) -m autograder demo $(IN_LANGUAGE)

bench:  ## Measure speed, as ratios within one run; only one benchmark: make bench WHICH=mini_autograd
	@for file in $(or $(wildcard */bench/*$(WHICH)*.py),$(error No benchmark matches $(WHICH))); do \
	  echo "=== $$file"; $(GRADLAB) run $$file || exit; done

pictures: demo  ## Make the README's pictures, in Chromium: a guess, a card, the stepper and the demo class's report
	$(RUN) -m pytest -q -n0 tools/readme_pictures.py

clean:  ## Remove caches and build leftovers; your work, the class and .venv stay
	@find . \( -name .git -o -name .venv -o -name node_modules -o -name workspace -o -name class \) -prune -o \
	  \( -name __pycache__ -o -name build -o -name '*.egg-info' -o -name .pytest_cache -o -name .ruff_cache \
	  -o -name .hypothesis -o -name .ipynb_checkpoints -o -name .coverage \) -prune -exec rm -rf {} +
