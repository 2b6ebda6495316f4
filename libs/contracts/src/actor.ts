/** Who did something: a token, a signed-in person (`user`), or a part of the product itself (`system`). */
export interface Actor {
  type: string;
  id: string;
}

/** `token:tok_1`: how events, audit rows and `created_by` columns write an actor. */
export function actorText({ type, id }: Actor): string {
  return `${type}:${id}`;
}

export function isSameActor(one: Actor, other: Actor): boolean {
  return one.type === other.type && one.id === other.id;
}

/** A part of the product that acts by itself, such as `worker` or `reconciler`. */
export function systemActor(id: string): Actor {
  return { type: 'system', id };
}

/** The worker that runs the steps of an operation. */
export const WORKER: Actor = systemActor('worker');
