import { existsSync, readdirSync } from 'node:fs';
import type { Rows } from '@slipway/platform-testing/contract';

const AREAS = new URL('../../../../libs/areas/', import.meta.url);

/** What the areas say about their operations: one row each, in `libs/areas/<area>/test/contract-rows.ts`. */
export const ROWS: Rows = {};

for (const area of readdirSync(AREAS).sort()) {
  const file = new URL(`${area}/test/contract-rows.ts`, AREAS);
  if (!existsSync(file)) continue;
  const { ROWS: own } = (await import(file.pathname)) as { ROWS: Rows };
  for (const [operationId, row] of Object.entries(own)) {
    if (operationId in ROWS) throw new Error(`two areas have a row of ${operationId}`);
    ROWS[operationId] = row;
  }
}
