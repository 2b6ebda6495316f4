import { existsSync, chmodSync, mkdirSync, mkdtempSync, rmdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ConfigError, EXIT_CONFIG } from './config.js';

/**
 * Says why a start is impossible, for the person who started it: the variable first, then what to do. `exitCode`: 78,
 * unless the configuration is not the cause.
 */
export class StartupError extends Error {
  override readonly name = 'StartupError';

  constructor(
    message: string,
    readonly exitCode: number = EXIT_CONFIG,
  ) {
    super(message);
  }
}

/**
 * For entry points: writes the problem to stderr, then exits. An unexpected error exits with 1, and shows its stack
 * only at log level debug.
 */
export function cannotStart(what: string, error: unknown, logLevel = 'info'): never {
  const subject = ['Slipway', what, 'cannot start:'].filter(Boolean).join(' ');
  if (error instanceof ConfigError) end(error.message, EXIT_CONFIG);
  if (error instanceof StartupError) end(`${subject} ${error.message}`, error.exitCode);
  const showsStack = error instanceof Error && ['trace', 'debug'].includes(logLevel);
  end(`${subject} ${oneLine(error)}${showsStack ? `\n${error.stack}` : ''}`, 1);
}

function end(text: string, exitCode: number): never {
  process.stderr.write(`${text}\n`);
  process.exit(exitCode);
}

/** Returns an error on one line. If several addresses were tried, each different error appears once. */
export function oneLine(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0)
    return [...new Set(error.errors.map(oneLine))].join('; ');
  if (!(error instanceof Error)) return String(error);
  const text = error.message || (error as NodeJS.ErrnoException).code || error.name;
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join(' ');
}

const WHY: Record<string, string> = {
  EACCES: 'permission denied',
  EPERM: 'not permitted',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  ENOTDIR: 'part of the path is a file, not a folder',
  EEXIST: 'part of the path is a file, not a folder',
  ENOENT: 'the system does not allow creating it',
};

/**
 * Makes the folder and its parents, and checks whether this process may write there.
 * @throws StartupError that names `variable`
 */
export function makeHome(home: string, variable = 'SLIPWAY_HOME'): void {
  try {
    makeFolder(home);
    if (!statSync(home).isDirectory()) throw Object.assign(new Error(), { code: 'ENOTDIR' });
    rmdirSync(mkdtempSync(path.join(home, '.writable-')));
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown';
    throw new StartupError(
      `${variable}: cannot write to ${home} (${WHY[code] ?? code}). Set ${variable} to a writable folder.`,
    );
  }
}

function makeFolder(folder: string): void {
  const missing: string[] = [];
  for (let at = folder; !existsSync(at); at = path.dirname(at)) missing.unshift(at);
  for (const one of missing) {
    // Not `recursive`: Node then tries for ever if a system allows no user to make folders, as under /proc.
    mkdirOnce(one);
    // As root, the embedded Postgres runs as another user, who must be able to pass through. The mode is set after
    // mkdir, because the umask would reduce it.
    if (one === folder) chmodSync(one, process.getuid?.() === 0 ? 0o711 : 0o700);
  }
}

function mkdirOnce(folder: string): void {
  try {
    mkdirSync(folder);
  } catch (error) {
    // Another process of this home was faster.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/**
 * Says why a server cannot listen, and names the variable to change; undefined if the configuration is not the cause.
 */
export function listenFault(
  error: unknown,
  { host, port, variable }: { host: string; port: number; variable: string },
): StartupError | undefined {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE')
    return new StartupError(
      `${variable}: port ${port} is taken by another program. Free it, or set ${variable} to another one.`,
    );
  if (code === 'EACCES')
    return new StartupError(
      `${variable}: this user is not permitted to use port ${port}. Set ${variable} to another one.`,
    );
  if (['EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN', 'EINVAL'].includes(code ?? ''))
    return new StartupError(
      `SLIPWAY_HOST: cannot listen on ${host} (${code}). Set SLIPWAY_HOST to an address of this machine, e.g. 127.0.0.1.`,
    );
  return undefined;
}

/**
 * Why a service cannot be used. `refused`: it answered, and waiting does not change the answer. `unknown_host`: its
 * name cannot be resolved. `away`: nothing answers, or the service is still starting.
 */
export interface ServiceFault {
  kind: 'refused' | 'unknown_host' | 'away';
  /** The problem and what to do, in sentences. */
  text: string;
}

export interface ReachOptions {
  /** The variable that holds the address. */
  variable: string;
  /**
   * True in production. There an outage is likelier than a wrong address, so `reach` waits without end for a service
   * that may come back.
   */
  isPatient: boolean;
  /** Receives a message for each fault that is waited for: once at first, and then once a minute. */
  say(line: string): void;
  /** Ends the waiting; `reach` then resolves. */
  signal?: AbortSignal;
  patienceMs?: number;
}

const PATIENCE_MS = 20_000;
const LOOK_MS = 500;
const SAY_AGAIN_MS = 60_000;

/**
 * Waits until `look` finds no fault. A mistake must be reported at once, but a replica that starts while Postgres
 * restarts must not exit.
 * A refusal therefore ends the start. For an unavailable service `reach` waits for a limited time or, in production,
 * for ever. An unknown host counts as a mistake, except in production, where the name of a stopped container is also
 * unknown.
 * @throws StartupError
 */
export async function reach(
  look: () => Promise<ServiceFault | undefined>,
  { variable, isPatient, say, signal, patienceMs = PATIENCE_MS }: ReachOptions,
): Promise<void> {
  const deadline = performance.now() + patienceMs;
  let told = { text: '', at: 0 };
  for (;;) {
    const fault = await look();
    if (!fault || signal?.aborted) return;
    const mayPass = fault.kind === 'away' || (isPatient && fault.kind === 'unknown_host');
    const now = performance.now();
    if (!mayPass || (!isPatient && now > deadline)) throw new StartupError(`${variable}: ${fault.text}`);
    if (fault.text !== told.text || now - told.at > SAY_AGAIN_MS) {
      say(`${variable}: ${fault.text} Waiting for it${isPatient ? '' : ` for up to ${patienceMs / 1000} s`}.`);
      told = { text: fault.text, at: now };
    }
    await delay(LOOK_MS, undefined, { signal }).catch(() => undefined);
    if (signal?.aborted) return;
  }
}

/** Describes the network error of an address; returns undefined for an error of another kind. */
export function networkFault(error: unknown, address: string, variable: string): ServiceFault | undefined {
  const first = error instanceof AggregateError ? error.errors[0] : error;
  const code = (first as NodeJS.ErrnoException | undefined)?.code;
  const correct = `or correct ${variable}.`;
  switch (code) {
    case 'ENOTFOUND':
      return { kind: 'unknown_host', text: `the host of ${address} is unknown. Correct ${variable}.` };
    case 'EAI_AGAIN':
      return { kind: 'away', text: `the host of ${address} cannot be resolved at the moment. Check DNS, ${correct}` };
    case 'ECONNREFUSED':
    case 'ENOENT':
      return {
        kind: 'away',
        text: `nothing listens on ${address} (connection refused). Start the server there, ${correct}`,
      };
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'ETIMEDOUT':
    case 'ECONNRESET':
    case 'EPIPE':
      return { kind: 'away', text: `${address} cannot be reached (${code}). Check the network, ${correct}` };
    default:
      return undefined;
  }
}
