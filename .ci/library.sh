# Functions that .ci/run, .ci/nightly and .ci/weekly share. Source this file; it changes to the root of the workspace.
# The last line of their output is always `N passed, N failed`: the tests, and one for each other check.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
exec < /dev/null
export CI=true NX_DAEMON=false NX_TUI=false FORCE_COLOR=0 NO_COLOR=1 REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true

passed=0
failed=0
skipped=0
current=''
scratch=$(mktemp -d)
# As root, the embedded Postgres runs as another user, which must be able to enter the folder.
chmod 711 "$scratch"

finish() {
  local status=$?
  # A signal in the middle of a check is a failure of that check.
  if [ -n "$current" ]; then
    failed=$((failed + 1))
    printf '\nFAILED: %s\n' "$current"
  fi
  rm -rf "$scratch"
  [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ] || status=1
  printf '\nTook %d s\n' "$SECONDS"
  if [ "$skipped" -gt 0 ]; then
    printf '\n%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
  else
    printf '\n%d passed, %d failed\n' "$passed" "$failed"
  fi
  exit "$status"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# check <name> <command...>: stops the run if the command fails.
check() {
  current=$1
  shift
  printf '\n=== %s\n' "$current"
  local started=$SECONDS
  "$@" || exit 1
  printf '=== %s: passed in %d s\n' "$current" $((SECONDS - started))
  passed=$((passed + 1))
  current=''
}

# skip <name> <reason>: names a check that this machine does not run.
skip() {
  printf '\n=== %s: skipped. %s\n' "$1" "$2"
  skipped=$((skipped + 1))
}

# check_both <name> <command> <name> <command>: the same for two commands at once, because most checks use one core.
check_both() {
  local started=$SECONDS
  printf '\n=== %s, and %s\n' "$1" "$3"
  current=$1
  bash -c "$2" > "$scratch/first.log" 2>&1 &
  local first=$!
  bash -c "$4" > "$scratch/second.log" 2>&1
  local second_status=$?
  wait "$first"
  local first_status=$?
  cat "$scratch/first.log" "$scratch/second.log"
  [ "$first_status" -eq 0 ] || exit 1
  current=$3
  [ "$second_status" -eq 0 ] || exit 1
  printf '=== %s, and %s: passed in %d s\n' "$1" "$3" $((SECONDS - started))
  passed=$((passed + 2))
  current=''
}

# counted <name> <command...>: a command that prints its own `N passed, N failed[, N skipped]`, which is added to the
# total.
counted() {
  current=$1
  shift
  printf '\n=== %s\n' "$current"
  local started=$SECONDS
  "$@" 2>&1 | tee "$scratch/counted.log"
  local status=${PIPESTATUS[0]}
  local line
  line=$(grep -aE '^[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?$' "$scratch/counted.log" | tail -n 1)
  if [ -z "$line" ]; then
    printf '%s did not print the number of passed and failed tests\n' "$current"
    exit 1
  fi
  local more broken ignored
  read -r more broken ignored < <(tr -cs '0-9' ' ' <<< "$line")
  passed=$((passed + more))
  failed=$((failed + broken))
  skipped=$((skipped + ${ignored:-0}))
  printf '=== %s: %s in %d s\n' "$current" "$line" $((SECONDS - started))
  # Failed tests are counted. A run that breaks in another way counts as one more failure.
  [ "$broken" -gt 0 ] && printf '\nFAILED: %s\n' "$current" && current=''
  if [ "$status" -ne 0 ] || [ "$broken" -gt 0 ]; then exit 1; fi
  current=''
}

# Installs Debian packages, if this is root on Debian. A test that needs a missing program is skipped by name.
apt_install() {
  if [ "$(id -u)" -eq 0 ] && command -v apt-get > /dev/null; then
    export DEBIAN_FRONTEND=noninteractive
    { timeout 120 apt-get -qq update && timeout 300 apt-get -qq install -y --no-install-recommends "$@"; } > "$scratch/apt.log" 2>&1 && return
  fi
  printf 'Missing, and could not be installed: %s. Tests that need it are skipped.\n' "$*"
}

# install_programs <program...>: installs the missing ones. A package has the name of its program, with few exceptions.
install_programs() {
  local missing=() program
  for program in "$@"; do
    command -v "$program" > /dev/null && continue
    case $program in
      c++) missing+=(g++) ;;
      promtool) missing+=(prometheus) ;;
      psql) missing+=(postgresql-client) ;;
      redis-server) [ -n "${REDIS_URL:-}" ] || missing+=(redis-server) ;;
      *) missing+=("$program") ;;
    esac
  done
  [ "${#missing[@]}" -eq 0 ] || apt_install "${missing[@]}"
}

install_chromium() {
  [ -n "${SLIPWAY_TEST_CHROMIUM:-}" ] && return
  local program
  for program in chromium chromium-browser google-chrome; do command -v "$program" > /dev/null && return; done
  # Installed separately: it is large, and some distributions have no package of this name.
  apt_install chromium
}

# prebuilt <variable> <what> <command...>: sets the variable to the output of the command, unless it is set already.
# The command keeps what it builds in ~/.cache/slipway, once per machine. Exit status 3 means that a build tool is
# missing.
prebuilt() {
  local variable=$1 what=$2
  shift 2
  [ -n "${!variable:-}" ] && return
  current=$what
  printf '\n=== %s\n' "$what"
  local started=$SECONDS printed status
  printed=$("$@")
  status=$?
  if [ "$status" -eq 0 ]; then
    export "$variable=$printed"
    printf '=== %s: %s in %d s\n' "$what" "$printed" $((SECONDS - started))
  elif [ "$status" -eq 3 ]; then
    printf 'Tests that need it are skipped.\n'
  else
    exit 1
  fi
  current=''
}

# parts <nightly|weekly> [--only <part>,...]: builds what these parts need, and runs them.
parts() {
  local levels=(node tools/test-runner/dist/levels.js "$@") need needs
  needs=$("${levels[@]}" --needs) || exit 1
  for need in $needs; do
    case $need in
      kubernetes)
        prebuilt SLIPWAY_KUBE_BIN 'Kubernetes control plane (go)' node tools/kube-testbed/build.mjs
        # If the test bed is built, a test that does not find it fails.
        [ -z "${SLIPWAY_KUBE_BIN:-}" ] || export SLIPWAY_REQUIRE_KUBE=1
        ;;
      llama-server)
        install_programs cmake make c++
        prebuilt SLIPWAY_TEST_LLAMA_SERVER 'llama-server (cmake)' node tools/llamacpp/build.mjs
        ;;
      python)
        python3 -c 'import ensurepip, venv' 2> /dev/null || apt_install python3 python3-venv
        prebuilt SLIPWAY_TEST_PYTHON 'generator of the Python client (pip)' node libs/sdk/python/environment.mjs
        ;;
      schemathesis)
        python3 -c 'import ensurepip, venv' 2> /dev/null || apt_install python3 python3-venv
        prebuilt SLIPWAY_TEST_SCHEMATHESIS 'Schemathesis (pip)' \
          node libs/sdk/python/environment.mjs tools/schemathesis/requirements.txt
        ;;
      client-generators)
        prebuilt SLIPWAY_TEST_GENERATORS 'generators of clients (go, mvn)' node tools/client-generators/build.mjs
        ;;
    esac
  done
  counted "$1 parts" "${levels[@]}"
}
