import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { DEFAULT_OPTIONS, FLAGS, FlagError, parseFlags, usage } from './flags.js';

describe('parseFlags', () => {
  it('reads --flag=value and --flag value alike', () => {
    const joined = parseFlags([
      '--port=9',
      '--model=a/b',
      '--ttft-ms=50',
      '--error-rate=0.25',
      '--never-ready',
    ]).options;
    const split = parseFlags([
      '--port',
      '9',
      '--model',
      'a/b',
      '--ttft-ms',
      '50',
      '--error-rate',
      '0.25',
      '--never-ready',
    ]).options;
    expect(joined).toEqual(split);
    expect(joined).toEqual({
      ...DEFAULT_OPTIONS,
      port: 9,
      model: 'a/b',
      ttftMs: 50,
      errorRate: 0.25,
      neverReady: true,
    });
  });

  it('reads a switch without a value or with one, as templates need one', () => {
    for (const argv of [
      ['--never-ready'],
      ['--never-ready=true'],
      ['--never-ready', 'true'],
      ['--never-ready', '--port=1'],
    ]) {
      expect(parseFlags(argv).options.neverReady).toBe(true);
    }
    for (const argv of [
      ['--never-ready=false'],
      ['--never-ready', 'false'],
      ['--never-ready', '--never-ready=false'],
    ]) {
      expect(parseFlags(argv).options.neverReady).toBe(false);
    }
  });

  it('reads the constants of batches, next to a pace of 0', () => {
    const flags = [
      '--max-num-seqs=8',
      '--max-num-batched-tokens=64',
      '--step-ms=12.5',
      '--token-us=80',
      '--kv-token-us=1',
    ];
    expect(parseFlags([...flags, '--kv-tokens=4000', '--ttft-ms=0']).options).toEqual({
      ...DEFAULT_OPTIONS,
      ...{ maxNumSeqs: 8, maxNumBatchedTokens: 64, stepMs: 12.5, tokenUs: 80, kvTokenUs: 1, kvTokens: 4_000 },
    });
  });

  it('has a default for every option', () => {
    expect(parseFlags([])).toEqual({ options: DEFAULT_OPTIONS, help: false });
  });

  it.each([
    [['--colour', 'red'], 'colour'],
    [['stray'], 'stray'],
    [['--port'], 'port'],
    [['--port', '65536'], '--port'],
    [['--port', '80.5'], '--port'],
    [['--port='], '--port'],
    [['--ttft-ms=-1'], '--ttft-ms'],
    [['--itl-ms', '0x10'], '--itl-ms'],
    [['--error-rate', '1.01'], '--error-rate'],
    [['--error-rate', 'often'], '--error-rate'],
    [['--crash-after', '0'], '--crash-after'],
    [['--tokens=0'], '--tokens'],
    [['--model='], '--model'],
    [['--model', '--port', '80'], '--model'],
    [['--constructor', '1'], '--constructor'],
    [['--never-ready=yes'], 'never-ready'],
    [['--max-num-seqs=0'], '--max-num-seqs'],
    [['--max-num-seqs=9', '--max-num-batched-tokens=8'], '--max-num-batched-tokens'],
    [['--max-num-batched-tokens=8'], '--max-num-batched-tokens'],
    [['--step-ms=-1'], '--step-ms'],
    [['--kv-tokens=1.5'], '--kv-tokens'],
    [['--step-ms=5', '--itl-ms=5'], '--itl-ms'],
    [['--slowdown=1', '--kv-tokens=500'], '--slowdown'],
  ])('refuses %j and names the flag', (argv, name) => {
    let thrown: unknown;
    try {
      parseFlags(argv);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(FlagError);
    expect((thrown as Error).message).toContain(name);
  });

  it('shows every flag in its usage and in the README', () => {
    const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
    for (const name of Object.keys(FLAGS)) {
      expect(usage()).toContain(`--${name} `);
      expect(readme).toContain(`| \`--${name}`);
    }
  });
});
