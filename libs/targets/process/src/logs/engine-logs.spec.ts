import { appendFile, mkdir, readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { LineReader, MAX_LINE_BYTES, redactSecrets, type LogLine, type LogOptions } from '@slipway/target-driver';
import { observeUntil } from '@slipway/target-driver/conformance';
import { EngineHost, until } from '../../test/engine-host.js';
import { boundLogs } from './engine-log.js';
import type { ProcessDriver } from '../process-driver.js';

let host: EngineHost;
let driver: ProcessDriver;
beforeEach(async () => {
  host = await EngineHost.create();
  driver = host.driver();
});
afterEach(async () => {
  await driver.close();
  await host.dispose();
});

const folder = () => join(host.home, 'instances', 'local', 'inst_1');
const file = (name: string) => join(folder(), name);
const wanted = (options: Partial<LogOptions> = {}): LogOptions => ({
  tail: 100,
  stream: 'both',
  previous: false,
  follow: false,
  signal: new AbortController().signal,
  ...options,
});
const read = async (options: Partial<LogOptions> = {}) => {
  const lines: LogLine[] = [];
  for await (const line of driver.logs('inst_1', wanted(options))) lines.push(line);
  return lines;
};
const texts = async (options: Partial<LogOptions> = {}) => (await read(options)).map(({ text }) => text);
const failed = async (generation: number) => {
  const spec = host.spec({ generation }, { says: `generation ${generation}\\n`, exit_code: 1 });
  await until(`generation ${generation} is over`, async () => {
    await driver.provision(spec);
    return (await driver.observe(spec)).state === 'exited';
  });
};

describe('the output of an instance', () => {
  it('is kept for the first and the last two failed generations', async () => {
    for (const generation of [1, 2, 3, 4, 5]) await failed(generation);
    const kept = (await readdir(folder())).filter((name) => name.endsWith('.stderr.log')).sort();
    expect(kept).toEqual(['1', '3', '4', '5'].map((generation) => `${generation}.stderr.log`));
    expect(await texts()).toEqual(['generation 5']);

    const week = new Date(Date.now() - 8 * 86_400_000);
    await utimes(file('1.stderr.log'), week, week);
    await failed(6);
    expect(await readdir(folder())).not.toContain('1.stderr.log');
  });

  it('is that of the last ended generation if the previous one is requested', async () => {
    await failed(1);
    expect(await texts({ previous: true })).toEqual(['generation 1']);
    await host.setHealthy(true);
    const next = host.spec({ generation: 2 }, { says: 'runs\\n' });
    await driver.provision(next);
    await observeUntil(driver, next, 'ready');
    expect([await texts(), await texts({ previous: true })]).toEqual([['runs'], ['generation 1']]);
  });

  it('is returned for the requested lines, stream and time', async () => {
    await mkdir(folder(), { recursive: true });
    await writeFile(file('1.stdout.log'), 'a\nb\n');
    await boundLogs(folder(), 1, 1_000_000);
    await writeFile(file('1.stderr.log'), 'x\ny\n');
    // Enough time later for another check to be recorded.
    const [seen, later] = [Date.now() - 60_000, Date.now()];
    await writeFile(file('1.stdout.times'), `${seen} 4\n`);
    await writeFile(file('1.stderr.times'), `${seen + 30_000} 4\n`);
    await appendFile(file('1.stdout.log'), 'c\n');
    expect(await texts()).toEqual(['a', 'b', 'x', 'y', 'c']);
    expect(await texts({ tail: 2 })).toEqual(['y', 'c']);
    expect(await texts({ stream: 'stdout' })).toEqual(['a', 'b', 'c']);
    expect(await texts({ since: new Date(seen + 1_000).toISOString() })).toEqual(['x', 'y', 'c']);
    expect(await texts({ since: new Date(later + 60_000).toISOString() })).toEqual([]);
    expect((await read({ stream: 'stdout' })).map(({ at }) => Date.parse(at!) < later - 1_000)).toEqual([
      true,
      true,
      false,
    ]);
  });

  it('is followed through a rotation and into the next generation, until the caller stops', async () => {
    await mkdir(folder(), { recursive: true });
    await writeFile(file('1.stdout.log'), 'before\n');
    const stop = new AbortController();
    const lines: string[] = [];
    const following = (async () => {
      for await (const { text } of driver.logs('inst_1', wanted({ follow: true, signal: stop.signal })))
        lines.push(text);
    })();
    const seen = (text: string) =>
      until(`${text} is seen in ${lines.join('|')}`, async () => lines.includes(text), 5_000).catch((error: Error) => {
        stop.abort();
        throw error;
      });
    await seen('before');
    await appendFile(file('1.stdout.log'), 'half a ');
    await appendFile(file('1.stdout.log'), `line\n${'filler '.repeat(100)}\nlast before the rotation\n`);
    await boundLogs(folder(), 1, 100);
    await appendFile(file('1.stdout.log'), 'after the rotation\n');
    await seen('after the rotation');
    await appendFile(file('1.stdout.log'), 'no end');
    await writeFile(file('2.stdout.log'), 'next generation\n');
    await seen('next generation');
    stop.abort();
    await following;
    expect(lines.map((line) => (line.startsWith('filler') ? 'filler' : line))).toEqual([
      'before',
      'half a line',
      'filler',
      'last before the rotation',
      'after the rotation',
      'no end',
      'next generation',
    ]);
  });

  it('is complete after a worker died between copying a full log and renaming the copy', async () => {
    await mkdir(folder(), { recursive: true });
    await writeFile(file('1.stdout.log.1.part'), 'copied\n');
    await writeFile(file('1.stdout.log'), 'goes on\n');
    await boundLogs(folder(), 1, 1_000);
    expect(await texts()).toEqual(['copied', 'goes on']);
  });

  it('is found in the file of the previous release', async () => {
    await mkdir(folder(), { recursive: true });
    await writeFile(file('1.intent'), '');
    await writeFile(file('stdout.log'), 'from before\n');
    expect(await texts()).toEqual(['from before']);
  });
});

describe('lines', () => {
  const linesOf = (...chunks: (string | Buffer)[]) => {
    const reader = new LineReader();
    const lines = chunks.flatMap((chunk) => [...reader.push(Buffer.from(chunk))].map(({ text }) => text));
    return [...lines, reader.rest()].filter((line) => line !== undefined);
  };

  it('longer than a megabyte are cut without being held in memory', () => {
    const chunk = Buffer.alloc(64 * 1024, 'x');
    const [line, next] = linesOf(...Array.from({ length: 64 }, () => chunk), '\nnext\n');
    expect(line).toBe(`${'x'.repeat(MAX_LINE_BYTES)} … (cut)`);
    expect(next).toBe('next');
  });

  it('that overwrite themselves keep their last state', () => {
    expect(linesOf('load 1%\rload 50', '%\rload 100%\r\nup\r\n', ' 5%\r10%\r')).toEqual(['load 100%', 'up', '10%']);
  });

  it('contain no escape sequences and no bytes that are not UTF-8', () => {
    const broken = Buffer.concat([Buffer.from('a\u001b[1;31mred\u001b[0m\u0007 '), Buffer.from([0xff, 10])]);
    expect(linesOf(broken)).toEqual(['ared \ufffd']);
  });
});

describe('secrets', () => {
  const key = 'Zx9_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKL0';
  it.each([
    ['token hf_abcdefghijklmnopqrstuvwxyz', 'token [redacted]'],
    ['Authorization: Bearer abc.def-1', 'Authorization: Bearer [redacted]'],
    ["non-default args: {'api_key': ['abc'], 'port': 1}", "non-default args: {'api_key': ['[redacted]'], 'port': 1}"],
    ['api-key=abc&x=1', 'api-key=[redacted]&x=1'],
    ['serve --api-key abc --port 1', 'serve --api-key [redacted] --port 1'],
    ['GET https://user:pass@host/x', 'GET https://[redacted]@host/x'],
    [`key ${key}.`, 'key [redacted].'],
    ['the value is tiger-tiger', 'the value is [redacted]'],
    [
      '100 prompt_tokens: 12, api keys are required, --token-limit 5',
      '100 prompt_tokens: 12, api keys are required, --token-limit 5',
    ],
  ])('are redacted: %s', (line, shown) => {
    expect(redactSecrets(line, ['tiger-tiger', 'is'])).toBe(shown);
  });

  it('of the engine’s start and of the caller are redacted in the engine’s output', async () => {
    await host.setHealthy(true);
    const spec = host.spec({}, { says: 'started with tiger-tiger and burning-bright\\n' });
    spec.runtime.env = { API_KEY: 'tiger-tiger' };
    await driver.provision(spec);
    await observeUntil(driver, spec, 'ready');
    expect(await texts({ secrets: ['burning-bright'] })).toEqual(['started with [redacted] and [redacted]']);
  });

  it('are redacted in a line that a rotation has cut, even if only its end is requested', async () => {
    await mkdir(folder(), { recursive: true });
    await writeFile(file('1.stdout.log.1'), 'first\nthe key is tiger-');
    await writeFile(file('1.stdout.log'), 'tiger-tiger, and more\nlast\n');
    const secrets = ['tiger-tiger-tiger'];
    for (const tail of [2, 3, 100])
      expect((await texts({ tail, secrets })).slice(-2)).toEqual(['the key is [redacted], and more', 'last']);
    expect(await texts({ tail: 1, secrets })).toEqual(['last']);
  });

  it('of the operator are redacted by a worker that did not start the engine', async () => {
    await host.setHealthy(true);
    const engine = { secret_env: { HUB: { secret: 'hub' } } };
    const options = { secret: () => 'tiger-tiger' };
    const spec = host.spec({}, { says: 'started with tiger-tiger\\n' });
    const first = host.driver(options, engine);
    await first.provision(spec);
    await observeUntil(first, spec, 'ready');
    await first.close();
    await driver.close();
    driver = host.driver(options, engine);
    expect(await texts()).toEqual(['started with [redacted]']);
  });
});
