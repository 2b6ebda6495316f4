import { asSlipwayError, CliError } from './exit-codes.js';
import { harmless, painted, type Terminal } from './terminal.js';

/** What failed, why, what to do, and what the api's logs know it by. */
export function failureLines(error: unknown, terminal: Terminal): string[] {
  const title = terminal.hasColour('stderr') ? painted('Error:', 'red') : 'Error:';
  if (error instanceof CliError)
    return [`${title} ${harmless(error.message)}`, ...(error.remediation ? [`  ${error.remediation}`] : [])];
  const refusal = asSlipwayError(error);
  if (!refusal) return [`${title} ${harmless(error instanceof Error ? error.message : String(error))}`];
  const { message, code, details, remediation, request_id: requestId } = refusal;
  const [first, ...more] = [
    // The message of a model server that cannot start has its last lines.
    ...message.split('\n'),
    ...details.map(({ field, message: issue }) => `  ${field}: ${issue}`),
    `  code: ${code}`,
    ...(remediation ? [`  what to do: ${remediation}`] : []),
    ...(requestId ? [`  request: ${requestId}`] : []),
  ].map(harmless);
  return [`${title} ${first}`, ...more];
}
