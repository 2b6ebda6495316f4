// Ends process groups and removes folders when the process that requested it ends, however it ends.
// stdin: `+<pid>` and `-<pid>` for a group that began and ended, `rm <folder>`. The end of stdin means that the other
// process has ended.
import { rmSync } from 'node:fs';
import { createInterface } from 'node:readline';

const groups = new Set();
const folders = [];
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => undefined);

const lines = createInterface({ input: process.stdin });
lines.on('line', (line) => {
  if (line.startsWith('+')) groups.add(Number(line.slice(1)));
  else if (line.startsWith('-')) groups.delete(Number(line.slice(1)));
  else if (line.startsWith('rm ')) folders.push(line.slice(3));
});
lines.on('close', () => {
  for (const group of groups) {
    try {
      process.kill(-group, 'SIGKILL');
    } catch {
      // The group has already ended.
    }
  }
  for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
});
