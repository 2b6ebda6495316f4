import { Injectable } from '@nestjs/common';
import { prepared, type Tx } from '@slipway/platform-database';
import type { RevisionPinsPort } from '@slipway/ports';

const PINNED = prepared(
  'model-api-binding-pins',
  `select distinct revision_id from model_api_target_bindings where revision_id = any($1) and state <> 'retired'`,
);

/** A binding is immutable, so the revision it names must stay as long as the binding may be published. */
@Injectable()
export class RevisionPins implements RevisionPinsPort {
  async pinned(tx: Tx, revisionIds: readonly string[]): Promise<string[]> {
    const rows = await tx.query<{ revision_id: string }>(PINNED, [revisionIds]);
    return rows.map((row) => row.revision_id);
  }
}
