import { Inject, Injectable } from '@nestjs/common';
import {
  endpointUrlField,
  endpointUrls,
  namesTenant,
  OPERATOR_TENANT,
  originsFor,
  type RevisionSpec,
  systemActor,
} from '@slipway/contracts';
import {
  CONFIG,
  type Config,
  type OperatorConfig,
  resolveSecret,
  type SecretConfig,
  type SecretReference,
} from '@slipway/platform-config';
import type { Tx } from '@slipway/platform-database';
import { ReadAudit } from '@slipway/platform-durable/mutations';
import { checkUrl, outsideOf } from '@slipway/platform-egress';
import { tenantName } from '@slipway/platform-http/auth';
import type { RevisionSpecIssue } from '@slipway/ports/instances';
import type { TargetDriver } from '@slipway/target-driver';
import {
  isFor,
  placeholderSecrets,
  replicasOn,
  type SecretReader,
  type Target,
  TargetCatalog,
  toInstanceSpec,
} from '../catalog/target-catalog.js';
import { DeviceAssignments } from '../devices/device-assignments.js';
import type { WorkloadRow } from '../workloads/instance.query.js';
import { OUTSIDE_ALLOW_LIST, StartedInstances } from './started-instances.js';

type SecretSettings = Pick<OperatorConfig, 'secrets'>;

/** Thrown if a secret that a spec names has no value now. The message names the secret, never its value. */
export class SecretUnavailable extends Error {}

/** Thrown for what the operator's configuration does not give to a tenant. Waiting does not help. */
export class AccessRefused extends Error {}

/** How the engines of a target are given secrets; values where its driver says nothing. */
type SecretDelivery = TargetDriver['secrets'];

/** A use of a secret. `sentTo`: the URL it is sent to; undefined where an engine of the operator gets it. */
interface SecretUse {
  name: string;
  sentTo?: string;
}

/** How a spec uses the operator's secrets, with the field that says so. */
function secretUses({ runtime, endpoint }: RevisionSpec): (SecretUse & { field: string })[] {
  const uses = Object.entries(runtime.env ?? {}).flatMap(([variable, value]) =>
    typeof value === 'object' ? [{ field: `runtime.env.${variable}`, name: value.secret_ref }] : [],
  );
  if (endpoint?.credential_ref === undefined) return uses;
  const name = endpoint.credential_ref;
  return [...uses, ...endpointUrls(endpoint).map((sentTo) => ({ field: 'endpoint.credential_ref', name, sentTo }))];
}

/** @param taking of the spec's target */
export function secretIssues(
  operator: SecretSettings,
  tenantName: string,
  spec: RevisionSpec,
  taking?: SecretDelivery,
): RevisionSpecIssue[] {
  const issues = secretUses(spec).flatMap(({ field, ...use }) => {
    const refusal = refusalOf(operator, tenantName, use, taking);
    return refusal ? [{ field, ...refusal }] : [];
  });
  // Of several URLs one refusal is enough.
  return issues.filter((issue, at) => issues.findIndex(({ field }) => field === issue.field) === at);
}

/**
 * The value of a secret for one use by a tenant, read from its source at this moment. Every use goes through here, because the operator
 * may have changed who may use what since a spec was accepted.
 * @param sentTo the URL it is sent to; undefined where an engine of the operator gets it
 * @throws SecretUnavailable; AccessRefused where the configuration does not allow this use
 */
export function readSecret(
  operator: OperatorConfig,
  tenantName: string,
  name: string,
  sentTo?: string,
  taking?: SecretDelivery,
): string {
  assertAllowed(operator, tenantName, { name, sentTo }, taking);
  try {
    return resolveSecret(operator, name);
  } catch (error) {
    throw new SecretUnavailable(error instanceof Error ? error.message : String(error));
  }
}

/** The values that engines of the spec were given and may print, as far as they are known here. */
export function valuesIn(operator: OperatorConfig, { runtime }: Pick<RevisionSpec, 'runtime'>): string[] {
  return Object.values(runtime.env ?? {}).flatMap((value) => {
    if (typeof value === 'string') return [];
    try {
      return [resolveSecret(operator, value.secret_ref)];
    } catch {
      return [];
    }
  });
}

/** Whose revision uses a secret. */
export interface SecretUser {
  tenantId: string;
  tenantName: string;
  revisionId: string;
}

/** Secrets as they are used: the audit of the tenant tells which revision used which. */
@Injectable()
export class Secrets {
  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'operator'>,
    private readonly reads: ReadAudit,
  ) {}

  valuesIn(spec: RevisionSpec): string[] {
    return valuesIn(this.config.operator, spec);
  }

  /**
   * @param taking of the target whose engine gets them
   * @returns what throws AccessRefused or SecretUnavailable where there is none for the tenant, or none that the target takes
   */
  readerOf({ tenantId, tenantName, revisionId }: SecretUser, taking?: SecretDelivery): SecretReader {
    const { operator } = this.config;
    const actor = systemActor(`revision/${revisionId}`);
    const note = (name: string) =>
      this.reads.record({ tenantId, action: 'secret.used', resourceType: 'secret', resourceName: name, actor });
    return {
      value: (name, sentTo) => {
        const value = readSecret(operator, tenantName, name, sentTo, taking);
        note(name);
        return value;
      },
      reference: (name) => {
        const reference = referenceOf(operator, tenantName, name, taking);
        if (reference) note(name);
        return reference;
      },
    };
  }
}

/** @throws AccessRefused */
function referenceOf(
  operator: SecretSettings,
  tenantName: string,
  name: string,
  taking: SecretDelivery,
): SecretReference | undefined {
  const reference = secretOf(operator, name)?.kubernetes;
  if (reference) assertAllowed(operator, tenantName, { name }, taking);
  return reference;
}

function assertAllowed(operator: SecretSettings, tenantName: string, use: SecretUse, taking: SecretDelivery): void {
  const refusal = refusalOf(operator, tenantName, use, taking);
  if (refusal) throw new AccessRefused(refusal.message);
}

function secretOf({ secrets }: SecretSettings, name: string): SecretConfig | undefined {
  return Object.hasOwn(secrets, name) ? secrets[name] : undefined;
}

/** A secret of others is told as one that does not exist, so that nobody learns names. */
function refusalOf(
  operator: SecretSettings,
  tenantName: string,
  { name, sentTo }: SecretUse,
  taking: SecretDelivery = 'resolved',
): Omit<RevisionSpecIssue, 'field'> | undefined {
  const secret = secretOf(operator, name);
  if (!secret || !namesTenant(secret.tenants ?? [OPERATOR_TENANT], tenantName))
    return { code: 'unknown', message: `the operator's configuration has no secret "${name}"` };
  if (sentTo === undefined) return deliveryRefusal(name, secret, taking);
  if (!secret.kubernetes && mayBeSent(secret.origins, tenantName, sentTo)) return undefined;
  return { code: 'not_allowed', message: `secret "${name}" may not be sent to this address` };
}

/** A target that resolves references itself has to be given some; no other can be. */
function deliveryRefusal(
  name: string,
  { kubernetes }: SecretConfig,
  taking: SecretDelivery,
): Omit<RevisionSpecIssue, 'field'> | undefined {
  if (kubernetes && taking === 'resolved')
    return {
      code: 'not_allowed',
      message: `secret "${name}" refers to a Kubernetes Secret, which this target cannot read: the operator must declare it with env or file`,
    };
  if (!kubernetes && taking === 'references')
    return {
      code: 'not_allowed',
      message: `this target accepts only secrets in Kubernetes: the operator must declare "${name}" as {kubernetes: {name, key}}, or set secrets: managed for the target`,
    };
  return undefined;
}

function mayBeSent(origins: readonly string[] | undefined, tenantName: string, url: string): boolean {
  return origins === undefined ? tenantName === OPERATOR_TENANT : checkUrl(origins, url).ok;
}

/** What is said of a target that is no more. */
export const REMOVED_TARGET = "was removed from the operator's configuration and starts no new instances";

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
    if (!target || !isFor(target, tenant_name)) throw new AccessRefused(`execution target "${name}" does not exist`);
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
        message: `must be at least 1: target "${target.config.name}" adopts running servers and cannot start or stop them`,
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
  const what = wasThere
    ? `execution target "${target}" ${REMOVED_TARGET}`
    : `execution target "${target}" does not exist`;
  return { field: 'runtime.target', code: 'unknown', message: `${what}; available: ${known}` };
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
