// A process that an engine starts, in its own session, with a child in another one. It records its pid and the signals
// it gets.
import { spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';

const [, , log, depth] = process.argv;
// The handler comes first: a test may send the signal as soon as it knows the pid.
process.on('SIGTERM', () => appendFileSync(log, 'SIGTERM\n'));
appendFileSync(log, `pid ${process.pid}\n`);
if (Number(depth) > 0)
  spawn(process.execPath, [process.argv[1], log, String(Number(depth) - 1)], { detached: true, stdio: 'ignore' });
setInterval(() => undefined, 1_000);
