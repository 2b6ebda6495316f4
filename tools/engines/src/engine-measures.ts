import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { timeLimit } from '@slipway/contracts';
import type { CallableServer } from '@slipway/target-driver/qualification';
import type { ProcessTargetConfig } from '@slipway/target-process';
import { request } from 'undici';

type Metrics = NonNullable<ProcessTargetConfig['engines'][string]['metrics']>;

const LIMIT_MS = 10_000;
const MAX_BYTES = 4 * 1024 * 1024;

/** Reports for each metric in the template whether the engine really has it, one line each. */
export async function metricsOf(
  { baseUrl, credential, dispatcher }: CallableServer,
  { path, ...named }: Metrics,
  signal: AbortSignal,
): Promise<string[]> {
  let text = '';
  const limit = timeLimit(LIMIT_MS, signal);
  try {
    const answer = await request(`${baseUrl}${path}`, {
      dispatcher,
      headers: credential === undefined ? {} : { authorization: `Bearer ${credential}` },
      signal: limit.signal,
    });
    if (answer.statusCode !== 200) throw new Error(`returned ${answer.statusCode}`);
    for await (const chunk of answer.body) {
      text += String(chunk);
      if (text.length > MAX_BYTES) throw new Error('is larger than 4 MiB');
    }
  } catch (error) {
    return [`metrics: ${path} ${(error as Error).message}`];
  } finally {
    limit.stop();
  }
  const has = new Set(text.split('\n').map((line) => /^[A-Za-z_:][\w:]*/.exec(line)?.[0]));
  return Object.entries(named).map(([meaning, names]) => {
    const found = [names].flat().find((name) => has.has(name));
    return `metric ${meaning}: ${found ?? `not found (looked for ${[names].flat().join(', ')})`}`;
  });
}

/**
 * Resident memory of the process and all its descendants, in MiB, as `ps` counts it. Shared memory counts several
 * times.
 */
export async function memoryOf(pid: number): Promise<string> {
  const { stdout } = await promisify(execFile)('ps', ['-eo', 'pid=,ppid=,rss='], { timeout: LIMIT_MS }).catch(() => ({
    stdout: '',
  }));
  const rows = stdout.split('\n').map((line) => line.trim().split(/\s+/).map(Number) as [number, number, number]);
  const family = new Set([pid]);
  for (let size = 0; size < family.size;) {
    size = family.size;
    for (const [id, parent] of rows) if (family.has(parent)) family.add(id);
  }
  const kib = rows.filter(([id]) => family.has(id)).reduce((sum, [, , rss]) => sum + rss, 0);
  return kib === 0
    ? 'memory: unknown'
    : `memory: ${Math.round(kib / 1_024)} MiB, ${family.size} process${family.size === 1 ? '' : 'es'}`;
}
