import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { EXIT_CONFIG } from '@slipway/platform-config';
import { READY_MESSAGE } from '@slipway/platform-config/process-life';

export interface SupervisedOptions {
  name: 'api' | 'worker' | 'gateway';
  entry: string;
  env: NodeJS.ProcessEnv;
  cwd: string;
  /** One line of output, without its end. */
  log(line: string): void;
  /** Called after each start and end, with the new state. */
  onChange(): void;
  /**
   * The process has never been ready and will not be: it refuses its configuration, or dies at each start. `why` is its
   * last output.
   */
  onHopeless(exitCode: number, why: string): void;
}

const FIRST_BACKOFF_MS = 100;
const LONGEST_BACKOFF_MS = 5_000;
/** A process that ran this long was healthy, so its next restart waits the shortest time again. */
const HEALTHY_AFTER_MS = 10_000;
/** A process that died this often before it was ready will not start. */
const HOPELESS_AFTER_STARTS = 5;
/** The last output of a process arrives after its end; an engine may keep the pipe open. */
const LAST_WORDS_MS = 500;

/**
 * One process of the stack: restarted with back-off whenever it dies, until it is stopped. `pm2` is not used, because
 * it is a daemon that would outlive the command, and the engines must know how their worker ends.
 */
export class SupervisedProcess {
  /** True from its ready message until its end. */
  isReady = false;
  private child: ChildProcess | undefined;
  private restart: NodeJS.Timeout | undefined;
  private backoffMs = FIRST_BACKOFF_MS;
  private wasReady = false;
  private failedStarts = 0;
  private lastLine = '';
  private isStopping = false;

  constructor(private readonly options: SupervisedOptions) {}

  get pid(): number | undefined {
    return this.child?.pid;
  }

  start(): void {
    const startedAt = Date.now();
    const child = spawn(process.execPath, ['--enable-source-maps', this.options.entry], {
      env: this.options.env,
      cwd: this.options.cwd,
      // A separate session: Ctrl-C in a terminal must reach only the launcher, which knows the order of the stops.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    this.child = child;
    const lastWords: Promise<unknown>[] = [];
    for (const stream of [child.stdout, child.stderr]) {
      if (!stream) continue;
      const lines = createInterface({ input: stream }).on('line', (line) => this.heard(line));
      lastWords.push(once(lines, 'close'));
    }
    child.on('message', (message) => {
      if (!isReadyMessage(message)) return;
      this.isReady = true;
      this.wasReady = true;
      this.options.onChange();
    });
    child.once('error', (error) => this.options.log(`${this.options.name} | cannot start: ${error.message}`));
    // Not `close`: an engine may have inherited the worker's output and keep it open.
    child.once('exit', (code, signal) => this.ended(child, code, signal, Date.now() - startedAt, lastWords));
    this.options.onChange();
  }

  /** Sends the process a message; does nothing if it is down. */
  send(message: string): void {
    if (this.child?.connected) this.child.send(message, () => undefined);
  }

  /** Does nothing if the process is down. */
  signal(signal: NodeJS.Signals): void {
    this.child?.kill(signal);
  }

  /** Requests the process to drain, kills it after `graceMs`, and resolves when it has ended. */
  async stop(graceMs: number): Promise<void> {
    this.isStopping = true;
    clearTimeout(this.restart);
    const child = this.child;
    if (!child) return;
    await new Promise<void>((resolve) => {
      const insist = setTimeout(() => {
        this.options.log(`${this.options.name} | still running after ${graceMs / 1000} s: killed`);
        child.kill('SIGKILL');
      }, graceMs);
      child.once('exit', () => {
        clearTimeout(insist);
        resolve();
      });
      child.kill('SIGTERM');
    });
  }

  private ended(
    child: ChildProcess,
    code: number | null,
    signal: NodeJS.Signals | null,
    livedMs: number,
    lastWords: Promise<unknown>[],
  ): void {
    if (this.child === child) this.child = undefined;
    this.isReady = false;
    this.options.onChange();
    if (this.isStopping) return;
    this.failedStarts += 1;
    if (!this.wasReady && (code === EXIT_CONFIG || this.failedStarts >= HOPELESS_AFTER_STARTS)) {
      void Promise.race([Promise.all(lastWords), delay(LAST_WORDS_MS)]).then(() =>
        this.options.onHopeless(
          code === EXIT_CONFIG ? EXIT_CONFIG : 1,
          this.lastLine || `it exited with ${signal ?? code}`,
        ),
      );
      return;
    }
    // The process has been ready with this configuration, so a service that it depends on may come back.
    if (code === EXIT_CONFIG) this.backoffMs = LONGEST_BACKOFF_MS;
    if (livedMs > HEALTHY_AFTER_MS) this.backoffMs = FIRST_BACKOFF_MS;
    this.options.log(`${this.options.name} | exited with ${signal ?? code}; restarting in ${this.backoffMs / 1000} s`);
    this.restart = setTimeout(() => this.start(), this.backoffMs);
    this.backoffMs = Math.min(this.backoffMs * 2, LONGEST_BACKOFF_MS);
  }

  private heard(line: string): void {
    if (line.trim()) this.lastLine = messageIn(line);
    this.options.log(this.labelled(line));
  }

  /** JSON lines contain the name of their service and stay unchanged, so that they can be parsed. */
  private labelled(line: string): string {
    return line.startsWith('{') && line.includes('"service":') ? line : `${this.options.name} | ${line}`;
  }
}

/** The message of a JSON line, with its error; other lines unchanged. */
function messageIn(line: string): string {
  try {
    const { msg, error } = JSON.parse(line) as { msg?: string; error?: string };
    return [msg, error].filter(Boolean).join(': ') || line;
  } catch {
    return line;
  }
}

function isReadyMessage(message: unknown): boolean {
  return (
    message === READY_MESSAGE ||
    (message !== null && typeof message === 'object' && (message as { ready?: unknown }).ready === true)
  );
}
