/**
 * The program that every engine's process runs before it becomes the engine. Its only task is to decide whether this
 * generation may start, inside the process that will be the engine:
 *
 * 1. It creates `<generation>.pid` exclusively (`set -C`, which is O_EXCL) with its own pid. Two such processes exist
 *    if two workers race, or if a worker died after it spawned one and its successor spawned another. One creates the
 *    file, the other ends. No worker's death can come between "the engine runs" and "its pid is known", because the
 *    worker does not write the file.
 * 2. Only then it checks for `<generation>.stop` and for newer generations. `terminate` writes the stop mark first
 *    and reads the pid file afterwards, so one of the two always sees the other.
 * 3. `exec` keeps the pid and, on Linux, the start time, which distinguishes the process from a later one with the
 *    same pid.
 *
 * Before all that it enters its control group, if it has one (`>|`, because the file exists), so all its children are
 * born in it. Limits come last. If the host does not grant a limit, the engine's own output says so, with the limit
 * that applies instead.
 *
 * The file holds six lines: pid, generation, port, boot id (from the worker), birth, and port of its metrics. Without
 * the fifth line it is torn. The sixth is empty if the engine reports its metrics on its only port, and missing if the
 * previous release started it. `LC_ALL=C` and `ps` are for hosts without /proc.
 */
const UNTIL_STARTED = `
set -C
umask 077
dir=$1 generation=$2 port=$3 boot=$4 cgroup=$5 nofile=$6 core=$7 nice=$8 metrics=$9
shift 9
if [ -n "$cgroup" ]; then echo "$$" >| "$cgroup/cgroup.procs" || exit 1; fi
if [ -r "/proc/$$/stat" ]; then
  read -r _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ birth _ < "/proc/$$/stat"
else
  birth=$(LC_ALL=C ps -o lstart= -p $$)
fi
{ printf '%s\\n%s\\n%s\\n%s\\n%s\\n%s\\n' "$$" "$generation" "$port" "$boot" "$birth" "$metrics" > "$dir/$generation.pid"; } 2>/dev/null || exit 0
[ -e "$dir/$generation.stop" ] && exit 0
for file in "$dir"/*.pid; do
  other=\${file##*/}
  [ "\${other%.pid}" -gt "$generation" ] && exit 0
done
if [ -n "$nofile" ] && ! ulimit -n "$nofile" 2>/dev/null; then
  ulimit -n "$(ulimit -Hn)"
  echo "slipway-start: $nofile open files are not allowed here, $(ulimit -n) instead" >&2
fi
[ -z "$core" ] || ulimit -c "$core" 2>/dev/null || echo "slipway-start: core files cannot be limited here" >&2
[ -z "$nice" ] || command -p renice -n "$nice" -p "$$" > /dev/null || echo "slipway-start: the priority stays as it is" >&2
`;

export const START_SCRIPT = `${UNTIL_STARTED}exec "$@"
`;

/**
 * For a command that ends: the process stays the same, and records its exit itself, even if its worker has died
 * meanwhile.
 */
export const RUN_SCRIPT = `${UNTIL_STARTED}"$@"
code=$?
printf '%s -\\n' "$code" > "$dir/$generation.exit"
exit "$code"
`;
