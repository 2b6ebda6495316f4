/**
 * The reasons why an operation ends `failed` or `cancelled`: the `error_code` of its record. Each belongs to the area
 * that raises it, which defines it once with `defineFailures`. The OpenAPI document lists all defined codes.
 */
export interface FailureCode<Code extends string = string> {
  readonly code: Code;
  /** The meaning, for readers of the document. */
  readonly description: string;
  /** The remedy, for readers of the document. */
  readonly remedy?: string;
}

const defined = new Map<string, FailureCode>();
const codes: string[] = [];

/**
 * The names of all defined codes, in order. It grows while modules are loaded, so a publisher must keep the reference.
 */
export const FAILURE_CODES: readonly string[] = codes;

/** Returns all codes defined so far, in the order of their names. */
export function definedFailures(): FailureCode[] {
  return codes.map((code) => defined.get(code) as FailureCode);
}

/**
 * Defines failure codes when the module is loaded:
 * `const rolloutFailures = defineFailures({ analysis_failed: ['meaning', 'remedy'] })`, and later
 * `throw new StepFailed(rolloutFailures.analysis_failed, …)`.
 * @throws Error for a code that has another meaning elsewhere
 */
export function defineFailures<const D extends Record<string, string | readonly [meaning: string, remedy: string]>>(
  descriptions: D,
): { readonly [Code in keyof D & string]: FailureCode<Code> } {
  const made = Object.entries(descriptions).map(([code, given]): [string, FailureCode] => {
    const [description, remedy] = [given].flat() as [string, string?];
    const known = defined.get(code);
    if (known && known.description !== description) throw new Error(`failure code ${code} is defined twice`);
    const definition = known ?? { code, description, ...(remedy !== undefined && { remedy }) };
    if (!known) codes.push(code);
    codes.sort();
    defined.set(code, definition);
    return [code, definition];
  });
  return Object.fromEntries(made) as { readonly [Code in keyof D & string]: FailureCode<Code> };
}
