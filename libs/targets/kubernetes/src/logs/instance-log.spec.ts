import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { LogLine, LogOptions } from '@slipway/target-driver';
import { startStubApi, type StubApi } from '../../test/stub-api/index.js';
import { PODS } from '../api/kinds.js';
import type { Pod } from '../api/objects.js';
import { KubeApi } from '../api/requests.js';
import { instanceLog, type LoggedPod } from './instance-log.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
/**
 * The memory in use. Memory that the process has not returned to the system does not count, because that depends on
 * when the collector runs.
 */
function usedBytes(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

let stub: StubApi;
let api: KubeApi;
let written: (query: Record<string, string>) => Iterable<string> | AsyncIterable<string>;
let pod: LoggedPod | undefined;
let stop: AbortController;
beforeEach(async () => {
  stub = await startStubApi({ log: (_pod, query) => written(query) });
  stub.store.put<Pod>(PODS, { metadata: { name: 'p', namespace: 'models' } });
  api = new KubeApi(stub.cluster());
  pod = { namespace: 'models', name: 'p', incarnation: 'u/0' };
  stop = new AbortController();
});
afterEach(async () => {
  stop.abort();
  await api.close();
  await stub.close();
});

const options = (more: Partial<LogOptions> = {}): LogOptions => ({
  tail: 200,
  stream: 'both',
  previous: false,
  follow: false,
  signal: stop.signal,
  ...more,
});
const read = (more?: Partial<LogOptions>, secrets: string[] = []) =>
  instanceLog(api, () => pod, options(more), secrets);
async function all(lines: AsyncIterable<LogLine>): Promise<LogLine[]> {
  const found: LogLine[] = [];
  for await (const line of lines) found.push(line);
  return found;
}
const stamp = (second: number, fraction = '123456789') =>
  `2026-03-01T10:00:${String(second).padStart(2, '0')}.${fraction}Z`;
const lastQuery = () => stub.requests.filter(({ verb }) => verb === 'log').at(-1)!.query;

describe('the output of an instance', () => {
  it('has the last lines with their times, without secrets and control characters', async () => {
    written = () => [
      `${stamp(1)} \u001b[31mloading\u001b[0m\n${stamp(2, '5')} hf_abcdefghijklmnopqrstuvwx and `,
      `kkkkkkkk\n${stamp(3)} the end`,
    ];
    expect(await all(read({}, ['kkkkkkkk']))).toEqual([
      { stream: 'stdout', at: stamp(1), text: 'loading' },
      { stream: 'stdout', at: stamp(2, '500000000'), text: '[redacted] and [redacted]' },
      { stream: 'stdout', at: stamp(3), text: 'the end' },
    ]);
    expect(lastQuery()).toMatchObject({ tailLines: '200', container: 'engine', timestamps: 'true' });
    expect(lastQuery()['follow']).toBeUndefined();
  });

  it('is that of the previous life if requested, and empty if there was none', async () => {
    written = ({ previous }) => [`${stamp(1)} ${previous === 'true' ? 'before' : 'now'}\n`];
    expect((await all(read({ previous: true, follow: true }))).map(({ text }) => text)).toEqual(['before']);
    stub.odd(
      { verb: 'log' },
      { status: 400, message: 'previous terminated container "engine" in pod "p" not found' },
      1,
    );
    expect(await all(read({ previous: true }))).toEqual([]);
    pod = undefined;
    expect(await all(read())).toEqual([]);
  });

  it('begins at the requested time, although the server counts whole seconds', async () => {
    written = () => [`${stamp(1, '1')} early\n${stamp(1, '7')} late\n`];
    expect((await all(read({ since: stamp(1, '500') }))).map(({ text }) => text)).toEqual(['late']);
  });

  it('is an error if the server refuses it', async () => {
    stub.forbid({ verb: 'log' });
    await expect(all(read())).rejects.toMatchObject({ status: 403 });
  });

  it('continues from one life to the next, and repeats no line after another request', async () => {
    let asked = 0;
    // All within one second, and two of them at the same time.
    const again = `${stamp(2, '1')} early\n${stamp(2)} two\n${stamp(2)} two more\n`;
    written = ({ sinceTime }) => {
      asked += 1;
      if (asked === 1) return [`${stamp(1)} one\n${again}`];
      if (asked === 2)
        return sinceTime === undefined ? ['asked for all'] : [`${again}${stamp(2)} late\n${stamp(3)} three\n`];
      return [`${stamp(1)} a new life\n`];
    };
    const found: string[] = [];
    for await (const { text } of read({ follow: true })) {
      found.push(text);
      // Another pod, with a clock of its own.
      if (text === 'three') pod = { namespace: 'models', name: 'p', incarnation: 'v/0' };
      if (text === 'a new life') break;
    }
    expect(found).toEqual(['one', 'early', 'two', 'two more', 'late', 'three', 'a new life']);
  });

  it('ends when its reader does, even in the middle of silence', async () => {
    written = async function* () {
      yield `${stamp(1)} one\n`;
      await new Promise(() => undefined);
    };
    const found: string[] = [];
    const reading = (async () => {
      for await (const { text } of read({ follow: true })) {
        found.push(text);
        setTimeout(() => stop.abort(), 20);
      }
    })();
    await reading;
    expect(found).toEqual(['one']);
  });

  it('keeps no more than one line of an engine that writes without end', async () => {
    let sent = 0;
    written = function* () {
      for (;;) {
        sent += 1;
        yield sent % 50 === 0 ? `${stamp(1)} ${'y'.repeat(1_000)}\n` : 'x'.repeat(64 * 1024);
      }
    };
    const before = usedBytes();
    let used = Infinity;
    let lines = 0;
    for await (const { text } of read({ follow: true, tail: 1 })) {
      expect(text.length).toBeLessThan(20_000);
      lines += 1;
      if (lines === 150) {
        used = usedBytes();
        break;
      }
    }
    // 470 MiB were read.
    expect(used - before).toBeLessThan(200 * 1024 * 1024);
  });
});
