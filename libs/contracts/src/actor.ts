export const OWNER_TYPES = ['person', 'service'] as const;

/** Who answers for a credential: a person, or a program (`service`). All tokens of one owner are one in what people decide. */
export interface Owner {
  type: (typeof OWNER_TYPES)[number];
  id: string;
}

export function isSameOwner(one: Owner, other: Owner): boolean {
  return one.type === other.type && one.id === other.id;
}

export function isAmongOwners(owners: readonly Owner[], owner: Owner): boolean {
  return owners.some((one) => isSameOwner(one, owner));
}

/** An actor as a person of its own: `user:ada` for who signs in at the hosted provider. */
export function personOf(actor: Actor): Owner {
  return { type: 'person', id: actorText(actor) };
}

/** Whether an owner's id has the form of an actor's text. Nobody may choose such a name: it would be that actor's. */
export function isActorText(ownerId: string): boolean {
  return /^(user|token|system):/i.test(ownerId);
}

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
