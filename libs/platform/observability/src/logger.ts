import { destination as toFile, pino, stdTimeFunctions, type DestinationStream, type Logger } from 'pino';
import { logContext } from './log-context.js';
import { CENSOR, REDACTED_PATHS, redactLine } from './redaction.js';

export type { Logger } from 'pino';

export interface LoggerOptions {
  /** `api`, `worker`, `gateway`: stands on every line. */
  service: string;
  /** trace, debug, info, warn, error, fatal or silent; the configuration's `logLevel`. */
  level: string;
  /** For tests. stderr if unset. */
  destination?: DestinationStream;
}

/**
 * JSON lines on stderr: `level`, `time` (RFC 3339 UTC), `service`, `pid`, the ids of `logContext`, what the call adds,
 * `msg`. Secrets are redacted twice: by field name and in texts.
 */
export function createLogger({ service, level, destination }: LoggerOptions): Logger {
  return pino(
    {
      level,
      base: { service, pid: process.pid },
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      mixin: () => ({ ...logContext.getStore() }),
      redact: { paths: REDACTED_PATHS, censor: CENSOR },
      hooks: { streamWrite: redactLine },
    },
    // Synchronous: the last line before an exit is the one that explains it.
    destination ?? toFile({ fd: 2, sync: true }),
  );
}
