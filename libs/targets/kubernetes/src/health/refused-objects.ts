import { counted } from '@slipway/contracts';
import { ApiError } from '../api/errors.js';
import type { KubeKind } from '../api/kinds.js';
import { shownWords } from '../instances/pod-ends.js';

/** An object that we tried to write or delete. */
export interface TriedObject {
  kind: KubeKind;
  namespace: string;
  name: string;
  /** The instance or the revision that needs it. */
  owner: string;
}

export type WriteAttempt = 'created' | 'changed' | 'stopped' | 'deleted';

interface RefusedObject extends TriedObject {
  attempt: WriteAttempt;
  words: string;
  since: string;
  /** By `performance.now()`: the last time that a caller needed it. */
  neededAt: number;
}

const MOST_KEPT = 1_000;
const MOST_SENTENCES = 4;
const MOST_WORDS = 300;
const MOST_OF_AN_OWNER = 3;
/** No caller has tried or needed the object for this long: it belongs to something that ended, or another worker leads. */
const FORGOTTEN_AFTER_MS = 120_000;

/**
 * Objects that the API server does not let us make, change or delete, with its words, until it does. The number of kept
 * objects is limited; more of them are refused for the same reasons.
 */
export class RefusedObjects {
  private readonly refused = new Map<string, RefusedObject>();

  /** Records a failed try. Errors of the connection are the target's trouble, not the object's. */
  note(object: TriedObject, attempt: WriteAttempt, error: unknown): void {
    if (!(error instanceof ApiError) || error.status === 401) return;
    const key = keyOf(object);
    const known = this.refused.get(key);
    if (!known && this.refused.size >= MOST_KEPT) return;
    const since = known?.since ?? new Date().toISOString();
    const words = shownWords(error.words)?.slice(0, MOST_WORDS) ?? `status ${error.status}`;
    this.refused.set(key, { ...object, attempt, words, since, neededAt: performance.now() });
  }

  /** A try has succeeded, or the object is no longer needed. */
  settle(object: Omit<TriedObject, 'owner'>): void {
    this.refused.delete(keyOf(object));
  }

  forget(owner: string): void {
    for (const [key, one] of this.refused) if (one.owner === owner) this.refused.delete(key);
  }

  /** Returns the refusals of the owners' objects, for people. The owners still need them. */
  of(...owners: string[]): string | undefined {
    const found = [...this.refused.values()].filter(({ owner }) => owners.includes(owner));
    for (const one of found) one.neededAt = performance.now();
    const sentences = found
      .slice(0, MOST_OF_AN_OWNER)
      .map(
        ({ kind, name, namespace, attempt, since, words }) =>
          `${kind.kind} ${name} cannot be ${attempt} in namespace ${namespace} since ${since}: ${words}`,
      );
    return sentences.length === 0 ? undefined : sentences.join('; ');
  }

  /** All refusals, one sentence for each kind and namespace. */
  get message(): string | undefined {
    const groups = new Map<string, RefusedObject[]>();
    for (const [key, one] of this.refused) {
      if (performance.now() - one.neededAt > FORGOTTEN_AFTER_MS) this.refused.delete(key);
      else {
        const group = `${one.kind.kind} ${one.namespace} ${one.attempt}`;
        groups.set(group, [...(groups.get(group) ?? []), one]);
      }
    }
    if (groups.size === 0) return undefined;
    const sentences = [...groups.values()].slice(0, MOST_SENTENCES).map(sentenceOf);
    const more =
      groups.size > MOST_SENTENCES ? [`${groups.size - MOST_SENTENCES} more kinds of objects are refused.`] : [];
    return [...sentences, ...more].join(' ');
  }
}

function sentenceOf(refused: readonly RefusedObject[]): string {
  const { kind, namespace, attempt, words } = refused[0]!;
  const since = refused.map((one) => one.since).sort()[0];
  return `${counted(refused.length, 'object')} of kind ${kind.kind} cannot be ${attempt} in namespace ${namespace}, since ${since}: ${words}.`;
}

const keyOf = ({ kind, namespace, name }: Omit<TriedObject, 'owner'>): string => `${kind.plural} ${namespace} ${name}`;
