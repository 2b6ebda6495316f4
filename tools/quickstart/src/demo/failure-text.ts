import { oneLine } from '@slipway/platform-config';
import { isSlipwayError, OperationFailed } from '@slipway/sdk';

/** The whole message of an error: each refused field with its own message. */
export function failureText(error: unknown): string {
  if (error instanceof OperationFailed) {
    const { id, kind, status, error_code, message } = error.operation;
    return `${kind} ${status}${error_code ? ` (${error_code})` : ''}: ${message || `see GET /api/v1/operations/${id}`}`;
  }
  if (!isSlipwayError(error)) return error instanceof Error && error.message ? error.message : oneLine(error);
  const who = error.status === undefined ? '' : `${error.status} ${error.code}: `;
  const why = error.cause === undefined ? '' : ` (${whyNoAnswer(error.cause)})`;
  const fields = error.details.map(({ field, message }) => `\n  - ${field}: ${message}`).join('');
  return `${who}${error.message}${why}${fields}${error.remediation ? `\n  ${error.remediation}` : ''}`;
}

/** `fetch` itself reports only that it failed. */
export function whyNoAnswer(error: unknown): string {
  const { cause } = error as { cause?: unknown };
  return oneLine(cause ?? error);
}
