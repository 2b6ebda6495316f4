import { Injectable } from '@nestjs/common';
import type { TargetConfig } from '@slipway/platform-config';
import { Database } from '@slipway/platform-database';
import { pageOf, type PageOf, type PageRequest } from '@slipway/platform-http';
import { TargetCatalog } from './target-catalog.js';
import type { TargetDto, TargetEngineDto } from './target.dto.js';
import { IN_USE } from './workload.query.js';

@Injectable()
export class TargetsService {
  constructor(
    private readonly catalog: TargetCatalog,
    private readonly database: Database,
  ) {}

  async list(page: PageRequest): Promise<PageOf<TargetDto>> {
    // Places are shared by all tenants; the sum tells nothing about any of them.
    const used = await this.database.read<{ target: string; in_use: number }>('system', IN_USE);
    const inUse = new Map(used.map((row) => [row.target, row.in_use]));
    const after = page.cursor?.[0];
    const configs = this.catalog
      .all()
      .map(({ config }) => config)
      .sort((one, other) => (one.name < other.name ? -1 : 1));
    const rest = configs.filter(({ name }) => after === undefined || name > after).slice(0, page.limit + 1);
    return pageOf(
      rest.map((config) => shown(config, inUse.get(config.name) ?? 0)),
      page.limit,
      ({ name }) => [name],
    );
  }
}

/** Built from an allow-list: what the operator adds to the configuration later is not shown by accident. */
function shown(config: TargetConfig, inUse: number): TargetDto {
  return {
    name: config.name,
    kind: config.kind,
    engines: enginesOf(config),
    capacity: { max_instances: config.max_instances ?? null, in_use: inUse },
  };
}

function enginesOf(config: TargetConfig): TargetEngineDto[] {
  if (config.kind === 'endpoint') return [];
  return Object.entries(config.engines).map(([name, engine]) => ({
    name,
    args: Object.keys(engine.args),
    env: [...engine.env_allow],
  }));
}
