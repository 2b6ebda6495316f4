import type { Config } from '@slipway/platform-config/load';
import { StartupError } from '@slipway/platform-config/startup';
import { schemaProblem, type Migration } from './schema.js';
import { keyProblems, type SealedColumn } from './sealed-column.js';

/**
 * A process that is too old for the schema would write rows that others cannot read, and one with another key opens no credential.
 * @throws StartupError
 */
export async function requireFit(
  { database, keyRing }: Config,
  migrations: readonly Migration[],
  sealed: readonly SealedColumn[],
): Promise<void> {
  const unfit = await schemaProblem(database.url, { known: migrations.map(({ name }) => name) });
  if (unfit) throw new StartupError(unfit);
  const [problem] = await keyProblems(database.url, sealed, keyRing);
  if (problem) throw new StartupError(problem);
}
