import { isatty } from 'node:tty';
import { childEnvironment } from '@slipway/platform-config';

/**
 * Calls `stop` once, at SIGINT, SIGTERM, or when npm is gone: npm passes a signal to its shell only, which dies of it and
 * leaves this process alone. SIGHUP says that the terminal was closed, if this process was started on one; else somebody sent it,
 * and as for any daemon it means `reload`.
 */
export function onStopRequest(stop: () => void, reload: () => void = () => undefined): void {
  let isAsked = false;
  const once = (): void => {
    if (!isAsked) stop();
    isAsked = true;
  };
  // `on`, not `once`: a terminal and npm may both send the signal, and the second one must not kill us in the middle.
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

/** stderr may be a pipe whose reader is gone; that is no reason to die. */
export function surviveClosedPipes(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
}

/** What to tell about a token that was made just now. It is shown this once. */
export function tokenNotice(token: { value: string; file?: string }): string {
  return `Bootstrap token (admin of the tenant \`default\`), shown only once and stored in ${token.file}:\n${token.value}\n`;
}
