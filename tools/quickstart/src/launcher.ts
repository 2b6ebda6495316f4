import { isatty } from 'node:tty';
import { childEnvironment } from '@slipway/platform-config';

/**
 * Calls `stop` once, at SIGINT, SIGTERM, or when npm has ended. npm passes a signal only to its shell, which ends and
 * leaves this process running. If this process was started on a terminal, SIGHUP means that the terminal was closed.
 * Otherwise a program sent it, and it calls `reload`, as for any daemon.
 */
export function onStopRequest(stop: () => void, reload: () => void = () => undefined): void {
  let isAsked = false;
  const once = (): void => {
    if (!isAsked) stop();
    isAsked = true;
  };
  // `on`, not `once`: a terminal and npm may both send the signal, and the second one must not end this process before
  // it has stopped everything.
  process.on('SIGINT', once);
  process.on('SIGTERM', once);
  const isOnTerminal = [0, 1, 2].some((fd) => isatty(fd));
  process.on('SIGHUP', isOnTerminal ? once : reload);
  if (!childEnvironment()['npm_lifecycle_event']) return;
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) once();
  }, 250).unref();
}

/** stderr may be a pipe without a reader, which must not end the process. */
export function surviveClosedPipes(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
}

/** The message about a newly created token. The token is shown only this once. */
export function tokenNotice(token: { value: string; file?: string }): string {
  return `Bootstrap token (admin of the tenant \`default\`), shown only once and stored in ${token.file}:\n${token.value}\n`;
}

/**
 * Returns the lines that a person needs although the output of the processes is hidden: another port than the documented
 * one, a wait, a process that has died. Undefined for other lines of the stack.
 */
export function noticeIn(line: string): string | undefined {
  const [, process, text] = /^(\w+) \| (.*)$/.exec(line) ?? [];
  if (process === 'slipway') return text;
  return /^(exited with|cannot start|still running) ?/.test(text ?? '') ? line : undefined;
}
