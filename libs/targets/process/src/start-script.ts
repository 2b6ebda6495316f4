/**
 * The program that every engine's process runs before it becomes the engine. Its one job is to decide, inside the very
 * process that is going to be the engine, whether this generation may start:
 *
 * 1. It creates `<generation>.pid` exclusively (`set -C`, which is O_EXCL) with its own pid. Two workers that race,
 *    or one that died after it spawned and its successor, make two such processes; one creates the file, the other ends.
 *    No worker's death can come between "the engine runs" and "its pid is known", because the worker does not write it.
 * 2. Only then it looks for `<generation>.stop` and for newer generations. `terminate` writes the stop mark first
 *    and reads the pid file afterwards, so one of the two always sees the other.
 * 3. `exec` keeps the pid and, on Linux, the start time that tells the process from a later one with the same pid.
 *
 * The file holds five lines: pid, generation, port, boot id (from the worker), birth; a missing last line is a torn file.
 * `LC_ALL=C` and `ps` are for hosts without /proc.
 */
export const START_SCRIPT = `
set -C
umask 077
dir=$1 generation=$2 port=$3 boot=$4
shift 4
if [ -r "/proc/$$/stat" ]; then
  read -r _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ birth _ < "/proc/$$/stat"
else
  birth=$(LC_ALL=C ps -o lstart= -p $$)
fi
{ printf '%s\\n%s\\n%s\\n%s\\n%s\\n' "$$" "$generation" "$port" "$boot" "$birth" > "$dir/$generation.pid"; } 2>/dev/null || exit 0
[ -e "$dir/$generation.stop" ] && exit 0
for file in "$dir"/*.pid; do
  other=\${file##*/}
  [ "\${other%.pid}" -gt "$generation" ] && exit 0
done
exec "$@"
`;
