import { Injectable } from '@nestjs/common';
import { Database } from '@slipway/platform-database';
import { pageOf, type PageOf, type PageRequest } from '@slipway/platform-http';
import { TargetCatalog, type Target } from './target-catalog.js';
import type { TargetDto } from './target.dto.js';
import { PLACES_TAKEN } from './workload.query.js';

@Injectable()
export class TargetsService {
  constructor(
    private readonly catalog: TargetCatalog,
    private readonly database: Database,
  ) {}

  async list(page: PageRequest): Promise<PageOf<TargetDto>> {
    // Places are shared by all tenants; the sum tells nothing about any of them.
    const names = this.catalog.all().map(({ config }) => config.name);
    const used = await this.database.read<{ target: string; taken: number }>('system', PLACES_TAKEN, [names, null]);
    const inUse = new Map(used.map((row) => [row.target, row.taken]));
    const after = page.cursor?.[0];
    const rest = this.catalog
      .all()
      .filter(({ config }) => after === undefined || config.name > after)
      .sort((one, other) => (one.config.name < other.config.name ? -1 : 1))
      .slice(0, page.limit + 1);
    return pageOf(
      rest.map((target) => shown(target, inUse.get(target.config.name) ?? 0)),
      page.limit,
      ({ name }) => [name],
    );
  }
}

/** Built from an allow-list: what the operator adds to the configuration later is not shown by accident. */
function shown({ config, driver }: Target, inUse: number): TargetDto {
  return {
    name: config.name,
    kind: config.kind,
    engines: driver.engines(),
    capacity: { max_instances: config.max_instances ?? null, in_use: inUse },
  };
}
