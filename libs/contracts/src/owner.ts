import { actorText, type Actor } from './actor.js';

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
