/** The kind of failure that an answer reports. Clients branch on `code`, dashboards on the category. */
export type Category =
  | 'invalid_request'
  | 'authentication'
  | 'permission'
  | 'not_found'
  | 'conflict'
  | 'precondition'
  | 'limit'
  | 'capacity'
  | 'upstream'
  | 'internal';

/** One refused field: a dotted path (`targets[0].weight`), a stable code and a sentence. */
export interface FieldIssue {
  field: string;
  code: string;
  message: string;
}

/** One row of an error table. `retryable` defaults to false. */
export interface ErrorSpec {
  status: number;
  category: Category;
  retryable?: boolean;
  /**
   * Advice for the reader. Every row of an area has a remediation, because the page of all codes shows it.
   */
  remediation?: string;
  message: string;
}

/**
 * Additions to the row of an error, at the point where it is raised. If there are details but no `message`, the message
 * is that of the first detail. The members of `extra` appear next to `code` in the envelope.
 */
export interface ErrorDetail {
  message?: string;
  remediation?: string;
  details?: FieldIssue[];
  headers?: Record<string, string>;
  extra?: Record<string, unknown>;
  cause?: unknown;
}

/** Something that uses a resource: its type, such as `target_binding`, and its id or name. */
export interface ResourceUse {
  type: string;
  id: string;
}

/** How many users of a resource an error names. */
export const MOST_USES_SHOWN = 20;

/** Names what uses a resource that therefore cannot go, for an error whose code ends in `_in_use`. */
export function usedBy(what: string, uses: readonly ResourceUse[]): ErrorDetail {
  const shown = uses.slice(0, MOST_USES_SHOWN);
  const named = shown.map(({ type, id }) => `${type.replaceAll('_', ' ')} ${id}`).join(', ');
  return {
    message: `${what} is in use by ${named}${uses.length > shown.length ? ' and more' : ''}.`,
    extra: { used_by: shown },
  };
}

/** A failure with a stable code. Any code may raise it; the HTTP layer converts it into the error envelope. */
export class SlipwayError extends Error {
  readonly status: number;
  readonly category: Category;
  readonly retryable: boolean;
  readonly remediation?: string;
  readonly details?: FieldIssue[];
  readonly headers?: Record<string, string>;
  readonly extra?: Record<string, unknown>;

  constructor(
    readonly code: string,
    spec: ErrorSpec,
    detail: ErrorDetail = {},
  ) {
    super(
      detail.message ?? firstOf(detail.details) ?? spec.message,
      detail.cause === undefined ? undefined : { cause: detail.cause },
    );
    this.name = 'SlipwayError';
    this.status = spec.status;
    this.category = spec.category;
    this.retryable = spec.retryable ?? false;
    this.remediation = detail.remediation ?? spec.remediation;
    this.details = detail.details;
    this.headers = detail.headers;
    this.extra = detail.extra;
  }
}

/** Returns a message about the first field, for errors that are raised without a message of their own. */
function firstOf([first]: readonly FieldIssue[] = []): string | undefined {
  if (!first) return undefined;
  return first.message.includes(first.field) ? first.message : `${first.field}: ${first.message}`;
}

const knownSpecs = new Map<string, ErrorSpec>();

/**
 * Declares a table of errors. The key of a row is its stable code.
 * Two tables may list the same code only with the same status, because a code is a contract of the whole API.
 * @returns one factory per code, to be thrown: `throw errors.not_found()`
 */
export function defineErrors<T extends Record<string, ErrorSpec>>(
  specs: T,
): { [K in keyof T]: (detail?: ErrorDetail) => SlipwayError } {
  const factories = {} as { [K in keyof T]: (detail?: ErrorDetail) => SlipwayError };
  for (const code of Object.keys(specs) as (keyof T & string)[]) {
    const spec = specs[code]!;
    const known = knownSpecs.get(code);
    if (known && known.status !== spec.status) {
      throw new Error(`Error code ${code} is defined with status ${known.status} and with status ${spec.status}`);
    }
    knownSpecs.set(code, spec);
    factories[code] = (detail) => new SlipwayError(code, spec, detail);
  }
  return factories;
}

/** Returns the row of a code, or undefined if no loaded table defines it. */
export function errorSpecOf(code: string): ErrorSpec | undefined {
  return knownSpecs.get(code);
}

/** Returns every code that a loaded table defines, with its row. */
export function errorSpecs(): Iterable<[string, ErrorSpec]> {
  return knownSpecs.entries();
}
