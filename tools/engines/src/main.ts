import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OperatorConfigError } from '@slipway/platform-config';
import { TargetConfigError } from '@slipway/target-driver';
import { builtInEngines } from '@slipway/target-process';
import { assertModelExists, chooseEngine, located } from './engine-choice.js';
import { tryEngine } from './engine-trial.js';
import { readCommand, USAGE, UsageError, type TryOptions } from './options.js';

const say = (line: string): void => void process.stdout.write(`${line}\n`);

const ended = new AbortController();
// The reader of the output is gone (`| head`): stop what is running nevertheless.
process.stdout.on('error', () => ended.abort());

try {
  const command = readCommand(process.argv.slice(2));
  if (command.name === 'help') process.stdout.write(USAGE);
  if (command.name === 'list') list();
  if (command.name === 'try') await attempt(command.options);
} catch (error) {
  if (!(error instanceof UsageError || error instanceof OperatorConfigError || error instanceof TargetConfigError))
    throw error;
  process.stderr.write(`${error.message}\n${error instanceof UsageError ? USAGE : ''}`);
  process.exitCode = 64;
}

function list(): void {
  for (const { template, command, serves = [], unknown_model: unknown = 'rejects' } of builtInEngines())
    say(
      `${template!.padEnd(14)} ${[command[0]].flat()[0]!.padEnd(26)} unknown model: ${unknown.padEnd(9)} ${serves.join(', ')}`,
    );
}

async function attempt(given: TryOptions): Promise<void> {
  const { INIT_CWD, SLIPWAY_HOME } = process.env;
  const cwd = INIT_CWD ?? process.cwd();
  const options = located(given, { cwd, ...(SLIPWAY_HOME && { home: SLIPWAY_HOME }) });
  const chosen = await chooseEngine(options);
  assertModelExists(options);
  // The engine is not a child of the terminal: only the trial stops it.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => ended.abort());
  const home = options.home ?? (await mkdtemp(join(tmpdir(), 'slipway-engine-')));
  try {
    const isGood = await tryEngine(chosen, options, { home, say, signal: ended.signal });
    process.exitCode = ended.signal.aborted ? 130 : isGood ? 0 : 1;
  } finally {
    if (options.home === undefined) await rm(home, { recursive: true, force: true });
  }
}
