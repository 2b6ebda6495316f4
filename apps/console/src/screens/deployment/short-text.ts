import { isObject } from '../../ui/text/json-shape.js';
import { oneLine } from '../../ui/text/one-line.js';

/** The first characters of a digest: enough to distinguish two. */
export const shortDigest = (digest: string): string => digest.replace(/^sha256:/, '').slice(0, 12);

/** Returns the name of a person or token without its kind: `token:tok_1` is `tok_1`. */
export const actorText = (actor: string): string => actor.slice(actor.indexOf(':') + 1);

const MOST_FACTS = 20;

/** Formats an object for people: `max_parallel 1, input_tokens p50 200`. Empty fields are left out. */
export function flatText(value: object | null | undefined): string {
  return Object.entries(value ?? {})
    .flatMap(([name, inner]: [string, unknown]) => {
      if (inner === null || inner === undefined || (Array.isArray(inner) && inner.length === 0)) return [];
      return [`${name} ${isObject(inner) ? flatText(inner) : oneLine(inner)}`];
    })
    .slice(0, MOST_FACTS)
    .join(', ');
}
