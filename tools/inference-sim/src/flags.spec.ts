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
