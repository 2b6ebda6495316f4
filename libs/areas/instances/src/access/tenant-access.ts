import { Inject, Injectable } from '@nestjs/common';
import { endpointUrlField, endpointUrls, originsFor, type RevisionSpec } from '@slipway/contracts';
import { CONFIG, type Config } from '@slipway/platform-config';
import type { Tx } from '@slipway/platform-database';
import { outsideOf } from '@slipway/platform-egress';
import { tenantName } from '@slipway/platform-http/auth';
import type { RevisionSpecIssue } from '@slipway/ports/instances';
import type { TargetDriver } from '@slipway/target-driver';
import {
  placeholderSecrets,
  replicasOn,
  type SecretReader,
  toInstanceSpec,
  isFor,
  type Target,
  TargetCatalog,
} from '../catalog/target-catalog.js';
import { DeviceAssignments } from '../devices/device-assignments.js';
import type { WorkloadRow } from '../workloads/instance.query.js';
import { AccessRefused, secretIssues, Secrets } from './secrets.js';
import { OUTSIDE_ALLOW_LIST, StartedInstances } from './started-instances.js';

/** What is said of a target that is no more. */
export const REMOVED_TARGET = "was removed from the operator's configuration; nothing new starts on it";

/** What a workload's tenant may use now: the configuration may have changed since its spec was accepted. */
@Injectable()
export class TenantAccess {
  constructor(
    private readonly secrets: Secrets,
    private readonly catalog: TargetCatalog,
    private readonly started: StartedInstances,
  ) {}

  /** @throws AccessRefused */
  assertMayStart(target: string, workload: Pick<WorkloadRow, 'tenant_name'>): void {
    if (this.targetFor(target, workload).isRemoved)
      throw new AccessRefused(`execution target "${target}" ${REMOVED_TARGET}`);
  }

  /**
   * For a server that is adopted: another tenant's instance may have come to where it was. One on a target that was removed goes on, as
   * an engine does. @throws AccessRefused
   */
  async assertMayCall(
    target: string,
    workload: Pick<WorkloadRow, 'tenant_id' | 'tenant_name' | 'spec'>,
    ordinal: number,
  ): Promise<void> {
    this.targetFor(target, workload);
    const { endpoint } = workload.spec;
    const baseUrl = endpointUrls(endpoint)[ordinal];
    if (baseUrl !== undefined && (await this.started.leadsToAnotherTenant(workload.tenant_id, baseUrl)))
      throw new AccessRefused(`${endpointUrlField(endpoint, ordinal)} ${OUTSIDE_ALLOW_LIST}`);
  }

  private targetFor(name: string, { tenant_name }: Pick<WorkloadRow, 'tenant_name'>): Target {
    const target = this.catalog.find(name);
    if (!target || !isFor(target, tenant_name)) throw new AccessRefused(`no execution target is named "${name}"`);
    return target;
  }

  /**
   * @param driver of the target whose engine gets them
   * @returns what throws AccessRefused or SecretUnavailable where there is none for the tenant, or none that the target takes
   */
  secretsOf(
    { tenant_id, tenant_name, revision_id }: Pick<WorkloadRow, 'tenant_id' | 'tenant_name' | 'revision_id'>,
    driver?: Pick<TargetDriver, 'secrets'>,
  ): SecretReader {
    const user = { tenantId: tenant_id, tenantName: tenant_name, revisionId: revision_id };
    return this.secrets.readerOf(user, driver?.secrets);
  }

  /** What must not be shown of what an engine of the spec prints. */
  valuesIn(spec: RevisionSpec): string[] {
    return this.secrets.valuesIn(spec);
  }
}

const MOST_LISTED = 20;

/** Every reason why a spec cannot run for a tenant on the configured targets. */
@Injectable()
export class SpecCheck {
  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'operator'>,
    private readonly catalog: TargetCatalog,
    private readonly started: StartedInstances,
    private readonly devices: DeviceAssignments,
  ) {}

  async of(tx: Tx, tenantId: string, spec: RevisionSpec): Promise<RevisionSpecIssue[]> {
    const name = await tenantName(tx, tenantId);
    const targets = this.catalog.of(name);
    const target = targets.find(({ config }) => config.name === spec.runtime.target);
    if (!target) return [unknownTarget(this.catalog, name, spec.runtime.target)];
    const issues = driverIssues(target.driver, name, spec);
    for (const [ordinal, url] of endpointUrls(spec.endpoint).entries()) {
      if (!target.driver.adopts || !(await this.started.isOfAnotherTenant(tx, tenantId, url))) continue;
      const field = endpointUrlField(spec.endpoint, ordinal);
      issues.push({ field, code: 'not_allowed', message: foreignAddress(target, name) });
    }
    const { max_instances: max } = target.config;
    if (target.driver.adopts && spec.scaling.min_replicas === 0) {
      issues.push({
        field: 'scaling.min_replicas',
        code: 'not_allowed',
        message: `target "${target.config.name}" adopts servers, which it can neither stop nor start`,
      });
    }
    if (max !== undefined && replicasOn(target, spec) > max) {
      issues.push({
        field: target.driver.adopts ? 'endpoint.base_urls' : 'scaling.min_replicas',
        code: 'not_allowed',
        message: `target "${target.config.name}" runs at most ${max} instances`,
      });
    }
    issues.push(...(await this.devices.issues(tx, target, spec, replicasOn(target, spec))));
    return [...issues, ...secretIssues(this.config.operator, name, spec, target.driver.secrets)];
  }
}

/** Why a spec's target is none, with those that the tenant has. */
function unknownTarget(catalog: TargetCatalog, tenantName: string, target: string): RevisionSpecIssue {
  const known = shortList(catalog.of(tenantName).map(({ config }) => config.name));
  const wasThere = catalog.removedOf(tenantName).some(({ config }) => config.name === target);
  const what = wasThere ? `execution target "${target}" ${REMOVED_TARGET}` : 'no execution target has this name';
  return { field: 'runtime.target', code: 'unknown', message: `${what}; there are: ${known}` };
}

function shortList(names: readonly string[]): string {
  if (names.length === 0) return 'none';
  const more = names.length > MOST_LISTED ? ` and ${names.length - MOST_LISTED} more` : '';
  return `${names.slice(0, MOST_LISTED).join(', ')}${more}`;
}

/** What the driver says of each URL, under the field that has it; what it says of all it says once. */
function driverIssues(driver: TargetDriver, tenantName: string, spec: RevisionSpec): RevisionSpecIssue[] {
  const { endpoint } = spec;
  const ordinals = [...endpointUrls(endpoint).keys()];
  const about = { id: 'check', generation: 1, tenantName };
  const found = (ordinals.length === 0 ? [0] : ordinals).flatMap((ordinal) =>
    driver
      .check(toInstanceSpec(spec, { ...about, ordinal }, placeholderSecrets))
      .map(({ field, code, message }) => ({
        field: field === 'endpoint.base_url' ? endpointUrlField(endpoint, ordinal) : field,
        code,
        message,
      })),
  );
  return [...new Map(found.map((issue) => [`${issue.field} ${issue.message}`, issue])).values()];
}

/** Word for word what the driver says of an address that is outside of its list, so that nobody finds others' instances by asking. */
function foreignAddress({ config }: Target, tenantName: string): string {
  return outsideOf(originsFor(config.allow ?? [], tenantName));
}
