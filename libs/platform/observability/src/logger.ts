import { AsyncLocalStorage } from 'node:async_hooks';
import { destination as toFile, pino, stdTimeFunctions, type DestinationStream, type Logger } from 'pino';

export type { Logger } from 'pino';

export interface LoggerOptions {
  /** `api`, `worker` or `gateway`; written on every line. */
  service: string;
  /** trace, debug, info, warn, error, fatal or silent; the configuration's `logLevel`. */
  level: string;
  /** For tests. Stderr by default. */
  destination?: DestinationStream;
}

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

/**
 * Creates a logger that writes JSON lines to stderr: `level`, `time` (RFC 3339 UTC), `service`, `pid`, the ids of
 * `logContext`, the fields of the call and `msg`. Secrets are redacted twice: by field name and inside texts.
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
    // Synchronous, because the last line before an exit is the one that explains it.
    destination ?? toFile({ fd: 2, sync: true }),
  );
}

/** Fields whose value never reaches a log line, anywhere in the first levels of an object. */
const SECRET_FIELDS = [
  'authorization',
  'credential',
  'credentials',
  'token',
  'password',
  'secret',
  'secret_key',
  'api_key',
  'cookie',
  '["set-cookie"]',
  '["proxy-authorization"]',
];

/**
 * Pino's paths have no "anywhere", so each depth that occurs is listed: `authorization`, `headers.authorization`,
 * `req.headers.authorization`.
 */
const REDACTED_PATHS: string[] = SECRET_FIELDS.flatMap((field) => {
  const below = field.startsWith('[') ? field : `.${field}`;
  return [field, `*${below}`, `*.*${below}`];
});

const CENSOR = '[redacted]';

/**
 * The second safeguard: it redacts secrets inside texts, such as an error message that quotes a URL or a header. It
 * works on the finished line, so a pattern must not match the quotes and braces around a secret. Each pattern begins with
 * a fixed text, so that a long line takes linear time.
 */
function redactLine(line: string): string {
  return line
    .replace(/\bslw_([A-Za-z0-9-]{1,64})_[^\s"\\,;}\]]+/g, `slw_$1_${CENSOR}`)
    .replace(/\b(Bearer|Basic) +[^\s"\\,;}\]]+/gi, `$1 ${CENSOR}`)
    .replace(/(:\/\/[^\s"\\/:@]*):[^\s"\\/@]+@/g, `$1:${CENSOR}@`);
}
