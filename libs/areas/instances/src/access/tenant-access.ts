import { endpointUrlField, endpointUrls, type RevisionSpec } from '@slipway/contracts';
import { Injectable } from '@nestjs/common';
import type { TargetDriver } from '@slipway/target-driver';
import type { WorkloadRow } from '../workloads/instance.query.js';
import type { SecretReader } from '../catalog/instance-spec.js';
import { AccessRefused, Secrets } from './secrets.js';
import { OUTSIDE_ALLOW_LIST, StartedInstances } from './started-instances.js';
import { isFor, TargetCatalog, type Target } from '../catalog/target-catalog.js';

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
