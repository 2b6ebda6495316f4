import { AsyncLocalStorage } from 'node:async_hooks';

/** The ids that every log line of the current work carries. */
export interface LogContext {
  request_id?: string;
  tenant_id?: string;
  operation_id?: string;
}

export const logContext = new AsyncLocalStorage<LogContext>();

/** Runs `fn` with these ids on its log lines, added to those of the caller. */
export function withLogContext<T>(context: LogContext, fn: () => T): T {
  return logContext.run({ ...logContext.getStore(), ...context }, fn);
}
