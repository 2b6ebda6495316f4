import { lookup as resolve } from 'node:dns/promises';
import { DEFAULT_PORT } from '@slipway/contracts';
import { Injectable } from '@nestjs/common';
import { Database, type Tx } from '@slipway/platform-database';
import { isOfThisMachine } from '@slipway/platform-egress';
import { READ_STARTED_INSTANCES } from '../workloads/instance.query.js';
import { TargetCatalog } from '../catalog/target-catalog.js';

/**
 * The error for an address of another tenant's instance. It is the same as for any address that is not allowed, so that
 * a tenant cannot discover others' instances by trying.
 */
export const OUTSIDE_ALLOW_LIST = "is outside of the target's allow list";

/**
 * Adopted servers may be checked many times a second. The list may be as old as the shortest time between two checks of
 * one server.
 */
const KEPT_MS = 1_000;

interface StartedInstance {
  tenant_id: string;
  base_url: string;
}

/**
 * Knows at which addresses the instances of each tenant answer, so that no tenant adopts an instance that a target
 * started for another.
 */
@Injectable()
export class StartedInstances {
  private kept?: { at: number; rows: Promise<StartedInstance[]> };

  constructor(
    private readonly database: Database,
    private readonly catalog: TargetCatalog,
  ) {}

  /** Decides by the text of the URL. Sends no request. */
  async isOfAnotherTenant(tx: Tx, tenantId: string, baseUrl: string): Promise<boolean> {
    if (!URL.canParse(baseUrl)) return false;
    const url = new URL(baseUrl);
    const rows = await tx.lookAsSystem<StartedInstance>(READ_STARTED_INSTANCES, [this.targets()]);
    return othersAtPort(rows, tenantId, url).some((other) => isSameHost(url.hostname, other.hostname));
  }

  /**
   * Decides by the addresses to which the URL resolves now. Call it outside of transactions: it may have to resolve a
   * name.
   */
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
    // A failed read is not kept.
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
