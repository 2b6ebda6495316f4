interface NamedActor {
  type?: string;
  id?: string;
  /** The name of the token or person; null or absent if the api does not know it. */
  name?: string | null;
}

/** An actor by name, or as `type:id`, the form that `slipway audit list --actor` takes. */
export const actorText = (actor: NamedActor | null | undefined): string | undefined => {
  if (actor === null || actor === undefined) return undefined;
  return actor.name || [actor.type, actor.id].filter(Boolean).join(':') || undefined;
};
