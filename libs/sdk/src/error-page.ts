/** The source of the page of all error codes: the parts of the OpenAPI document that list them. */
export interface DocumentedCodes {
  'x-errors': Record<string, PublishedError>;
  'x-failures': Record<string, PublishedFailure>;
}

interface PublishedError {
  status: number;
  message: string;
  remediation?: string;
  retryable: boolean;
}

interface PublishedFailure {
  description: string;
  remedy?: string;
}

const HEAD = `<!-- Made by \`npm run openapi\` from the OpenAPI document; changes here are overwritten. -->

# Error codes

Every error response of the API is \`{"error": {"code", "message", "category", "remediation", "request_id", "retryable"}}\`.
Programs branch on \`code\`. The \`message\` can contain more than this page shows, and can change.
The status 400 means that the request is malformed or has a wrong type; 422 means that it is well-formed but breaks a rule.
Both name the fields in \`details\`.
If \`retryable\` is true, the same request can succeed later.
\`request_id\` is the \`X-Request-Id\` of the response. The logs contain it.
\`/docs\` lists the codes of each operation, and [gateway.md](gateway.md) those of the gateway.

## Codes of responses

`;

const FAILURES = `
## Codes of operations

The \`error_code\` of an operation shows why it ended \`failed\` or \`cancelled\`. Its \`message\` and the \`evidence\` of its steps show details.

`;

/** Returns the page as it is committed, in Markdown. */
export function errorPageOf({ 'x-errors': errors, 'x-failures': failures }: DocumentedCodes): string {
  const answers = Object.entries(errors)
    .sort(([one, left], [other, right]) => left.status - right.status || (one < other ? -1 : 1))
    .map(([code, { status, message, remediation, retryable }]) => [
      String(status),
      `\`${code}\``,
      message,
      remediation ?? '',
      retryable ? 'yes' : '',
    ]);
  const ends = Object.entries(failures).map(([code, { description, remedy }]) => [
    `\`${code}\``,
    description,
    remedy ?? '',
  ]);
  return (
    HEAD +
    table(['status', 'code', 'meaning', 'what to do', 'retryable'], answers) +
    FAILURES +
    table(['code', 'meaning', 'what to do'], ends)
  );
}

function table(head: string[], rows: string[][]): string {
  const cells = [head, head.map(() => '---'), ...rows];
  return cells.map((row) => `| ${row.map(shown).join(' | ')} |\n`).join('');
}

/** Escapes a cell, so that it adds neither a column nor markup. */
function shown(cell: string): string {
  return cell.replaceAll('|', '\\|').replaceAll('<', '&lt;');
}
