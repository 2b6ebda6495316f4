import { asSlipwayError, CliError } from './exit-codes.js';
import { START_COMMAND } from './local-stack.js';
import { remedyOf } from './remedies.js';
import { harmless, painted, wordsOf, type Terminal } from './terminal.js';

/** For a command that waits, and continues to wait. */
export const awayLine = (code: string): string => `The api does not respond (${code}). Waiting until it does.`;

/** No server answers, or it is not Slipway. */
const UNANSWERED: readonly string[] = ['connection_failed', 'unexpected_answer'];

/** A gateway answers each path of the api with it. */
const OF_GATEWAY = 'unknown_url';
const OTHER_ADDRESS = `Use the address of the api, which ${START_COMMAND} prints next to that of the gateway (7070 by default).`;

/** Describes a failure: its cause, the remedy, and the identifiers to find it in the api's logs. */
export function failureLines(error: unknown, terminal: Terminal): string[] {
  const title = terminal.hasColour('stderr') ? painted('Error:', 'red') : 'Error:';
  if (error instanceof CliError)
    return [`${title} ${harmless(error.message)}`, ...(error.remediation ? [`  ${error.remediation}`] : [])];
  const refusal = asSlipwayError(error);
  if (!refusal) return [`${title} ${harmless(error instanceof Error ? error.message : String(error))}`];
  const { code, request_id: requestId } = refusal;
  // The text of a gateway names the request, and no command.
  if (code === OF_GATEWAY)
    return [
      `${title} This is the address of a gateway, not of the api.`,
      `  code: ${code}`,
      `  what to do: ${OTHER_ADDRESS}`,
    ];
  const message = remedyOf(wordsOf(refusal.message));
  const faults = faultsOf(refusal.details);
  const help = UNANSWERED.includes(code)
    ? 'Run slipway doctor to find the cause.'
    : remedyOf(wordsOf(refusal.remediation));
  const [first, ...more] = [
    // The message of a model server that cannot start contains its last lines.
    ...message.split('\n'),
    // The message of a single fault is often the fault itself.
    ...faults
      .filter(({ field, issue }) => ![issue, `${field}: ${issue}`].includes(message.replace(/\.$/, '')))
      .map(({ field, issue }) => `  ${field}: ${issue}`),
    ...(refusal.status === undefined && refusal.cause ? [`  why: ${reasonOf(refusal.cause)}`] : []),
    `  code: ${code}`,
    ...(help ? [`  what to do: ${help}`] : []),
    ...(isAllUnknown(faults) ? ['  to send them anyway: pass --allow-unknown, and the api ignores them'] : []),
    ...(requestId ? [`  request: ${requestId}`] : []),
  ].map(harmless);
  return [`${title} ${first}`, ...more];
}

interface Fault {
  field: string;
  issue: string;
  code: unknown;
}

/** The api's list of faults. A proxy may have made the body, so nothing about its form is certain. */
function faultsOf(details: unknown): Fault[] {
  if (!Array.isArray(details)) return [];
  return details
    .map((one) => (one ?? {}) as { field?: unknown; message?: unknown; code?: unknown })
    .map(({ field, message, code }) => ({ field: wordsOf(field), issue: remedyOf(wordsOf(message)), code }));
}

const isAllUnknown = (faults: readonly Fault[]): boolean =>
  faults.length > 0 && faults.every(({ code }) => code === 'unknown_field');

const NO_HTTPS = 'the server does not use https; the address probably begins with http://';
/** Node's words for these are of no help. */
const REASONS: Record<string, string> = {
  ERR_SSL_WRONG_VERSION_NUMBER: NO_HTTPS,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: NO_HTTPS,
};

/**
 * The deepest cause: the outer `fetch` error only says that it failed. With several
 * addresses, the cause has no message, only a code.
 */
export function reasonOf(error: unknown): string {
  const { cause, message, code } = (error ?? {}) as { cause?: unknown; message?: string; code?: string };
  if (cause) return reasonOf(cause);
  return REASONS[code ?? ''] ?? (message || code || String(error));
}
