import type { Tx } from '@slipway/platform-database';

export const REVISION_PINS = Symbol('RevisionPinsPort');

/** Offered by the area that binds products to revisions: a pinned revision is never deleted. */
export interface RevisionPinsPort {
  /** Those of the given revisions that something still refers to. */
  pinned(tx: Tx, revisionIds: readonly string[]): Promise<string[]>;
}
