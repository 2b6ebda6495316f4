import { lookup as resolve } from 'node:dns/promises';
import { DEFAULT_PORT } from '@slipway/contracts';
import { Injectable } from '@nestjs/common';
import { Database, type Tx } from '@slipway/platform-database';
import { isOfThisMachine } from '@slipway/platform-egress';
import { READ_STARTED_INSTANCES } from '../workloads/instance.query.js';
import { TargetCatalog } from '../catalog/target-catalog.js';

/** What a tenant is told: the same as of any address that is not for it, so that nobody finds others' instances by asking. */
export const OUTSIDE_ALLOW_LIST = "is outside of the target's allow list";

/** Looks at adopted servers may be many a second; the list may be as old as the shortest time between two looks at one. */
const KEPT_MS = 1_000;

interface StartedInstance {
  tenant_id: string;
  base_url: string;
}

/** Whose instances answer where, so that no tenant adopts what a target has started for another. */
@Injectable()
export class StartedInstances {
  private kept?: { at: number; rows: Promise<StartedInstance[]> };

  constructor(
    private readonly database: Database,
    private readonly catalog: TargetCatalog,
  ) {}

  /** By what the URL says. Calls nobody outside. */
  async isOfAnotherTenant(tx: Tx, tenantId: string, baseUrl: string): Promise<boolean> {
    if (!URL.canParse(baseUrl)) return false;
    const url = new URL(baseUrl);
    const rows = await tx.lookAsSystem<StartedInstance>(READ_STARTED_INSTANCES, [this.targets()]);
    return othersAtPort(rows, tenantId, url).some((other) => isSameHost(url.hostname, other.hostname));
  }

  /** By where the URL leads now. Outside of transactions: it may have to resolve a name. */
  async leadsToAnotherTenant(tenantId: string, baseUrl: string): Promise<boolean> {
    const url = new URL(baseUrl);
    const others = othersAtPort(await this.rows(), tenantId, url);
    if (others.length === 0) return false;
    const addresses = await resolve(url.hostname.replace(/^\[(.*)\]$/, '$1'), { all: true }).catch(() => []);
    const hosts = [url.hostname, ...addresses.map(({ address }) => address)];
    return others.some((other) => hosts.some((host) => isSameHost(host, other.hostname)));
  }

  private rows(): Promise<StartedInstance[]> {
    if (this.kept && performance.now() - this.kept.at < KEPT_MS) return this.kept.rows;
    const rows = this.database.read<StartedInstance>('system', READ_STARTED_INSTANCES, [this.targets()]);
    this.kept = { at: performance.now(), rows };
    // A failed look is not kept.
    rows.catch(() => (this.kept = undefined));
    return rows;
  }

  private targets(): string[] {
    return this.catalog.all().flatMap(({ config, driver }) => (driver.adopts ? [] : [config.name]));
  }
}

function othersAtPort(rows: readonly StartedInstance[], tenantId: string, url: URL): URL[] {
  const others = rows.filter(({ tenant_id }) => tenant_id !== tenantId).map(({ base_url }) => new URL(base_url));
  return others.filter((other) => portOf(other) === portOf(url));
}

function portOf({ port, protocol }: URL): number {
  return port === '' ? DEFAULT_PORT[protocol === 'https:' ? 'https' : 'http'] : Number(port);
}

function isSameHost(one: string, other: string): boolean {
  return one === other || (isHere(one) && isHere(other));
}

function isHere(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost') || isOfThisMachine(host);
}
