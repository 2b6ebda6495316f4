import { readdirSync } from 'node:fs';
import type { Rows } from '@slipway/platform-testing/contract';

const AREAS = new URL('../../../../libs/areas/', import.meta.url);

/** The rows of the areas for their operations: one row each, in `contract-rows.ts` of an area's `test` folder. */
export const ROWS: Rows = {};

const files = readdirSync(AREAS, { recursive: true, encoding: 'utf8' }).filter((file) =>
  /^[^/]+\/test\/([^/]+\/)?contract-rows\.ts$/.test(file),
);
for (const name of files.sort()) {
  const file = new URL(name, AREAS);
  const { ROWS: own } = (await import(file.pathname)) as { ROWS: Rows };
  for (const [operationId, row] of Object.entries(own)) {
    if (operationId in ROWS) throw new Error(`two areas have a row of ${operationId}`);
    ROWS[operationId] = row;
  }
}
