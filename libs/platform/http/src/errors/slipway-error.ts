/** What kind of failure an answer reports; clients branch on `code`, dashboards on the category. */
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

/** One field that was refused: a dotted path (`targets[0].weight`), a stable code and a sentence. */
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
  /** What the reader can do about it. Every row of an area has one: the page of all codes is made from them. */
  remediation?: string;
  message: string;
}

/** What the place that raises an error may add to its row. Without a `message`, details give the first one's. `extra` members land beside `code` in the envelope. */
export interface ErrorDetail {
  message?: string;
  remediation?: string;
  details?: FieldIssue[];
  headers?: Record<string, string>;
  extra?: Record<string, unknown>;
  cause?: unknown;
}

/** A failure with a stable code. Raise it from anywhere; the HTTP layer turns it into the error envelope. */
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

/** Where the place that raises it says no more, people read of the first field at once. */
function firstOf([first]: readonly FieldIssue[] = []): string | undefined {
  if (!first) return undefined;
  return first.message.includes(first.field) ? first.message : `${first.field}: ${first.message}`;
}

const knownSpecs = new Map<string, ErrorSpec>();

/**
 * Declares a table of errors; the key of a row is its stable code.
 * Two tables may list the same code only with the same status: the code is a contract across the whole API.
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

/** The row behind a code, or undefined if no loaded table defines it. */
export function errorSpecOf(code: string): ErrorSpec | undefined {
  return knownSpecs.get(code);
}

/** Every code that a loaded table defines, with its row. */
export function errorSpecs(): Iterable<[string, ErrorSpec]> {
  return knownSpecs.entries();
}
