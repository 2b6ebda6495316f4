/** What the page of all error codes is made from: the parts of the OpenAPI document that list them. */
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

Every failure of the API is \`{"error": {"code", "message", "category", "remediation", "request_id", "retryable"}}\`. Programs branch on \`code\`;
\`message\` may say more than stands here and may change. 400 means malformed or mistyped, 422 well-formed but refused by a rule; both
name the fields in \`details\`. \`retryable\` tells whether the same request can succeed later. \`request_id\` is the \`X-Request-Id\` of the answer:
logs have it. Which operation answers which code stands at \`/docs\`. The codes of the gateway stand in [gateway.md](gateway.md).

## Codes of answers

`;

const FAILURES = `
## Codes of operations

Why an operation ended \`failed\` or \`cancelled\`: \`error_code\` of its record. Its \`message\` and the \`evidence\` of its steps say more.

`;

/** The page as it is committed, in Markdown. */
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

/** Neither a column of its own nor markup. */
function shown(cell: string): string {
  return cell.replaceAll('|', '\\|').replaceAll('<', '&lt;');
}
