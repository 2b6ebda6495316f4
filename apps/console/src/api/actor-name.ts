/** The record of an operation, a revision or a decision names its actor so. */
export interface NamedActor {
  type: string;
  id: string;
  /** The name of its token or person; absent or null if it is unknown. */
  name?: string | null;
}

/** The name of an actor for people, or else its id. */
export const actorName = ({ id, name }: NamedActor): string => name || id;
