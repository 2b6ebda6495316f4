import { Logger } from '@nestjs/common';
import { prepared, type Database } from '@slipway/platform-database';
import type { Target } from './target-catalog.js';

/** A worker that takes over and finds the same keeps the time of the change. */
export const RECORD_UNKNOWN_UNITS = prepared(
  'instances-record-unknown-units',
  `insert into target_unknown_units as u (target, found) values ($1, $2::jsonb)
   on conflict (target) do update set found = excluded.found, changed_at = now() where u.found is distinct from excluded.found`,
);

/**
 * Records the units that a driver finds and no row knows, for `GET /targets`. Slipway does not stop them: the operator
 * decides. Only the worker that leads the target calls it.
 */
export class UnknownUnitsRecord {
  private readonly logger = new Logger('targets');
  /** The last state that this worker wrote to the table. */
  private written?: string;

  constructor(
    private readonly target: Target,
    private readonly database: Database,
    private readonly targets: () => ReadonlySet<string>,
  ) {}

  async record(): Promise<void> {
    const { config, driver } = this.target;
    const found = await driver.unknownUnits?.(this.targets());
    if (!found) return;
    const text = JSON.stringify(found);
    if (text === this.written) return;
    await this.database.tx('system', (tx) => tx.query(RECORD_UNKNOWN_UNITS, [config.name, text]));
    this.written = text;
    for (const { target, location, count, command } of found)
      this.logger.warn(
        `target ${config.name}: ${count} unknown units of target "${target}" in ${location}: ${command}`,
      );
  }
}
