import { appendFileSync } from 'node:fs';
import { FlagError, parseFlags, usage, type SimulatorOptions } from './flags.js';
import { startSimulator, type Simulator } from './simulator.js';

const EXIT_FAILED = 1;
const EXIT_USAGE = 64; // EX_USAGE of sysexits.h

await main(process.argv.slice(2));

async function main(argv: string[]): Promise<void> {
  const options = readOptions(argv);
  const simulator = await start(options);
  // The handlers are registered before the line is printed, because a reader of the line may send a signal at once.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => void simulator.stop().then(() => process.exit(0)));
  }
  process.stdout.write(`inference-sim listening url=${simulator.url} model=${options.model} pid=${process.pid}\n`);
}

function readOptions(argv: string[]): SimulatorOptions {
  try {
    const { options, help } = parseFlags(argv);
    if (!help) return options;
    process.stdout.write(usage());
    process.exit(0);
  } catch (error) {
    if (!(error instanceof FlagError)) throw error;
    process.stderr.write(`inference-sim: ${error.message}\n\n${usage()}`);
    process.exit(EXIT_USAGE);
  }
}

async function start(options: SimulatorOptions): Promise<Simulator> {
  try {
    const simulator = await startSimulator(options);
    logStart(options, simulator.port);
    return simulator;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const at = `${options.host}:${options.port}`;
    logStart(options, options.port, code ?? message);
    return give(
      code === 'EADDRINUSE'
        ? `cannot listen on ${at}: the address is already in use`
        : `cannot listen on ${at}: ${message}`,
    );
  }
}

/** Also logs a start that cannot bind its port, with the error: the log shows engines that were started twice. */
function logStart(options: SimulatorOptions, port: number, error?: string): void {
  if (options.startLog === undefined) return;
  const line = {
    pid: process.pid,
    port,
    model: options.model,
    started_at: new Date(performance.timeOrigin).toISOString(),
    error,
  };
  try {
    // O_APPEND and one write, so that lines of several starts never mix.
    appendFileSync(options.startLog, `${JSON.stringify(line)}\n`);
  } catch (failure) {
    give(`cannot write the start log: ${(failure as Error).message}`);
  }
}

function give(message: string): never {
  process.stderr.write(`inference-sim: ${message}\n`);
  process.exit(EXIT_FAILED);
}
