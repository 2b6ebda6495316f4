import { cannotStart, listenFault } from './startup.js';

/** The message that a process sends to its launcher once it serves. */
export const READY_MESSAGE = 'slipway:ready';
/**
 * The message that a launcher sends to a worker before its SIGTERM: the whole stack stops, so the engines end with the
 * worker.
 */
export const STOP_ENGINES_MESSAGE = 'slipway:stop-engines';

interface ProcessOptions {
  /** `api`, `worker` or `gateway`, for messages about the process. */
  name: string;
  logLevel: string;
  log: { info(line: string): void; error(line: string): void };
}

/**
 * The life of a server process: starting → ready → stopping → exit.
 * SIGTERM, SIGINT and the loss of the launcher stop it. A second signal changes nothing, because a terminal and a launcher may both send one.
 * Exit status: 0 after a stop, 1 after one that failed, 78 if the configuration makes a start impossible.
 */
export class ProcessLife {
  private close?: (reason: string) => Promise<void>;
  private stopping?: Promise<void>;

  constructor(private readonly options: ProcessOptions) {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => this.stop(signal));
    process.on('disconnect', () => this.stop('the launcher has exited'));
  }

  get isStopping(): boolean {
    return this.stopping !== undefined;
  }

  /** @param close runs when the process stops, which waits for it; before this call a stop exits at once */
  closesWith(close: (reason: string) => Promise<void>): void {
    this.close = close;
  }

  /** Notifies the launcher that the process serves. */
  ready(): void {
    process.send?.(READY_MESSAGE);
  }

  /** Writes the problem to stderr and ends the process. */
  readonly refuse = (error: unknown): never => cannotStart(this.options.name, error, this.options.logLevel);

  /** Starts a server. If it cannot listen, the process ends and names the variable to change. */
  listen<T>(address: { host: string; port: number; variable: string }, start: () => Promise<T>): Promise<T> {
    return start().catch((error: unknown) => this.refuse(listenFault(error, address) ?? error));
  }

  private stop(reason: string): void {
    this.stopping ??= this.shutDown(reason);
  }

  private async shutDown(reason: string): Promise<void> {
    const { log } = this.options;
    log.info(`stopping: ${reason}`);
    try {
      await this.close?.(reason);
      process.exit(0);
    } catch (failure) {
      log.error(`stopping failed: ${failure instanceof Error ? failure.message : String(failure)}`);
      process.exit(1);
    }
  }
}
