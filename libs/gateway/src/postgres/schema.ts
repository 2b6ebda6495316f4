import { migrations } from '@slipway/dataplane';
import { schemaProblem } from '@slipway/platform-database/schema';

const KNOWN = migrations.map(({ name }) => name);
/** Shorter than what a start without Postgres may take. */
const PATIENCE_MS = 1_500;

/**
 * Why a gateway of this version must not serve from this database, in one line. It reads what the data plane's migrations made, and
 * judges those alone. Undefined also where Postgres cannot be asked: then there is the snapshot on disk.
 */
export function unfitSchema(databaseUrl: string): Promise<string | undefined> {
  const check = { known: KNOWN, concerns: (name: string) => name.startsWith('Dataplane'), patienceMs: PATIENCE_MS };
  return schemaProblem(databaseUrl, check).catch(() => undefined);
}
