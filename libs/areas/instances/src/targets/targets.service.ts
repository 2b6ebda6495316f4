import { countedAre } from '@slipway/contracts';
import { Injectable } from '@nestjs/common';
import { OperatorSettings, shareOf } from '@slipway/platform-config';
import { Database } from '@slipway/platform-database';
import { firstRows, pageOf, type PageOf, type PageRequest, type Principal } from '@slipway/platform-http';
import { In, IsNull, Not } from 'typeorm';
import { TargetCatalog, type Target } from '../catalog/target-catalog.js';
import type { TargetConditionDto, TargetDto, TargetListDto, UnknownUnitsDto } from './target.dto.js';
import { UnknownUnitsEntity } from '../catalog/unknown-units.entity.js';
import { COUNT_PLACED_ELSEWHERE } from '../workloads/instance.query.js';
import { TargetHealthEntity } from '../catalog/target-health.entity.js';
import { TargetDevices } from './target-devices.js';
import { hasNeighbours } from '../workloads/target-share.js';
import { COUNT_WANTED_OF_TARGETS } from '../workloads/workload.query.js';

/** Replaces the problem, which names the operator's servers, namespaces and rights. */
const FOR_OTHERS = 'the target is degraded; its operator can see the reason';

type Viewer = Pick<Principal, 'tenantId' | 'tenantName' | 'isOperatorTenant'>;

@Injectable()
export class TargetsService {
  constructor(
    private readonly catalog: TargetCatalog,
    private readonly database: Database,
    private readonly settings: OperatorSettings,
    private readonly devices: TargetDevices,
  ) {}

  async list(who: Viewer, page: PageRequest): Promise<TargetListDto> {
    const { isOperatorTenant } = who;
    const listed = await this.page(who, page);
    const { digest, loadedAt, problems } = this.settings.state;
    const configuration = {
      digest,
      loaded_at: loadedAt.toISOString(),
      current: problems.length === 0,
      // Problems quote the file, which names other tenants.
      problems: isOperatorTenant ? [...problems] : [],
    };
    return { ...listed, configuration };
  }

  private async page(who: Viewer, page: PageRequest): Promise<PageOf<TargetDto>> {
    const { tenantName, isOperatorTenant } = who;
    // All tenants share the capacity. The sum reveals nothing about any one of them.
    const targets = [...this.catalog.of(tenantName), ...this.catalog.removedOf(tenantName)];
    const names = targets.map(({ config }) => config.name);
    const used = await this.database.read<{ target: string; taken: number }>('system', COUNT_WANTED_OF_TARGETS, [
      names,
      null,
    ]);
    const configs = targets.map(({ config }) => config);
    const hasSecondTenant = await hasNeighbours(this.database, configs);
    const shareOn = ({ config }: Target) => shareOf(config, tenantName, hasSecondTenant).instances;
    const inUse = new Map(used.map((row) => [row.target, row.taken]));
    const after = page.cursor?.[0];
    const missing = isOperatorTenant ? await this.missing() : [];
    const rest = targets
      .filter(({ config, isRemoved }) => !isRemoved || inUse.has(config.name))
      .filter(({ config }) => after === undefined || config.name > after)
      .sort((one, other) => (one.config.name < other.config.name ? -1 : 1))
      .slice(0, page.limit + 1);
    const hosts = await this.devices.hosts(
      rest.map(({ config }) => config.name),
      who,
    );
    const troubles = await conditionsOf(this.database, rest, who);
    const unknown = await unknownUnitsOf(this.database, rest, who);
    const shown: TargetDto[] = rest.map((target) => {
      const { name } = target.config;
      const { devices, conditions: ofHost } = hosts.of(name);
      const unknown_units = unknown.get(name) ?? [];
      const conditions = [...ofHost, ...(troubles.get(name) ?? []), ...conditionOf(unknown_units)];
      const status = conditions.length === 0 ? 'ok' : 'degraded';
      const dto = targetDtoOf(target, inUse.get(name) ?? 0, shareOn(target));
      return { ...dto, status, devices, conditions, unknown_units };
    });
    const all = [...shown, ...missing.filter(({ name }) => after === undefined || name > after)]
      .sort((one, other) => (one.name < other.name ? -1 : 1))
      .slice(0, page.limit + 1);
    return pageOf(firstRows(all, page.limit), ({ name }) => [name]);
  }

  /** Targets that instances still need although the file of this process does not name them. */
  private async missing(): Promise<TargetDto[]> {
    const known = this.catalog.all().map(({ config }) => config.name);
    const rows = await this.database.read<PlacedElsewhere>('system', COUNT_PLACED_ELSEWHERE, [known]);
    return rows.map(({ target, kind, count, revisions }) => ({
      name: target,
      kind: kind ?? 'unknown',
      engines: [],
      capacity: { max_instances: null, in_use: count, share: null },
      status: 'degraded',
      devices: [],
      conditions: [
        {
          type: 'not_configured',
          message: `the configuration no longer names the target, and ${countedAre(count, 'instance')} not known to have ended there, of ${revisions.join(', ')}. Put the target back until they have ended, or add it to abandoned_targets if their units no longer exist`,
        },
      ],
      unknown_units: [],
      removed: true,
    }));
  }
}

interface PlacedElsewhere {
  target: string;
  kind: string | null;
  count: number;
  revisions: string[];
}

function conditionOf(units: readonly UnknownUnitsDto[]): TargetConditionDto[] {
  if (units.length === 0) return [];
  const shown = units.map(
    ({ target, location, count, command }) => `${count} of target "${target}" in ${location}, removed by: ${command}`,
  );
  return [{ type: 'unknown_units', message: `units that no target and no instance knows: ${shown.join('; ')}` }];
}

/** They name the operator's servers and folders. */
async function unknownUnitsOf(
  database: Database,
  targets: readonly Target[],
  { isOperatorTenant }: Viewer,
): Promise<Map<string, UnknownUnitsDto[]>> {
  const names = targets.flatMap(({ config, driver }) => (driver.unknownUnits ? [config.name] : []));
  if (!isOperatorTenant || names.length === 0) return new Map();
  const rows = await database.tx('system', (tx) => tx.repository(UnknownUnitsEntity).findBy({ target: In(names) }));
  return new Map(rows.map(({ target, found }) => [target, found]));
}

/** Built from an allow-list, so that a later addition to the configuration is not shown by accident. */
function targetDtoOf(
  { config, driver, isRemoved }: Target,
  inUse: number,
  share: number,
): Omit<TargetDto, 'devices' | 'conditions' | 'status' | 'unknown_units'> {
  return {
    name: config.name,
    kind: config.kind,
    engines: driver.engines(),
    capacity: {
      max_instances: config.max_instances ?? null,
      in_use: inUse,
      share: share === Number.POSITIVE_INFINITY ? null : share,
    },
    removed: isRemoved,
  };
}

/** Returns the problems of targets as a whole, as far as the viewer may see them. */
async function conditionsOf(
  database: Database,
  targets: readonly Target[],
  { isOperatorTenant }: Viewer,
): Promise<Map<string, TargetConditionDto[]>> {
  // A row may belong to another kind of target that had the same name.
  const names = targets.flatMap(({ config, driver }) => (driver.health ? [config.name] : []));
  const ill =
    names.length === 0
      ? []
      : await database.tx('system', (tx) =>
          tx.repository(TargetHealthEntity).findBy({ target: In(names), problem: Not(IsNull()) }),
        );
  return new Map(
    ill.map(({ target, problem }) => [
      target,
      [{ type: 'degraded', message: isOperatorTenant ? (problem ?? '') : FOR_OTHERS }],
    ]),
  );
}
