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
  shareOf,
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
import { hasNeighbours } from '../workloads/target-share.js';
import { AdoptedNames } from './adopted-names.js';
import { OUTSIDE_ALLOW_LIST, StartedInstances } from './started-instances.js';

type SecretSettings = Pick<OperatorConfig, 'secrets'>;

/** Thrown if a secret that a spec names has no value now. The message names the secret, never its value. */
export class SecretUnavailable extends Error {}

/** Thrown if the operator's configuration does not allow something to a tenant. A retry does not help. */
export class AccessRefused extends Error {}

/** How the engines of a target get secrets. If its driver does not say, they get values. */
type SecretDelivery = TargetDriver['secrets'];

/** A use of a secret. `sentTo` is the URL to which it is sent; undefined if an engine of the operator gets it. */
interface SecretUse {
  name: string;
  sentTo?: string;
}

/** Returns the secrets that a spec uses, each with the field that names it. */
function secretUses({ runtime, endpoint }: RevisionSpec): (SecretUse & { field: string })[] {
  const uses = Object.entries(runtime.env ?? {}).flatMap(([variable, value]) =>
    typeof value === 'object' ? [{ field: `runtime.env.${variable}`, name: value.secret_ref }] : [],
  );
  if (endpoint?.credential_ref === undefined) return uses;
  const name = endpoint.credential_ref;
  return [...uses, ...endpointUrls(endpoint).map((sentTo) => ({ field: 'endpoint.credential_ref', name, sentTo }))];
}

/** @param taking the delivery of the spec's target */
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
  // For several URLs, one refusal is enough.
  return issues.filter((issue, at) => issues.findIndex(({ field }) => field === issue.field) === at);
}

/**
 * Reads the value of a secret from its source, for one use by a tenant. Every use goes through this function, because
 * the operator may have changed the rules since a spec was accepted.
 * @param sentTo the URL to which it is sent; undefined if an engine of the operator gets it
 * @throws SecretUnavailable if the secret has no value now
 * @throws AccessRefused if the configuration does not allow this use
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

/** Returns the secret values that engines of the spec may have got and may print, as far as this process knows them. */
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

/** The revision that uses a secret, and its tenant. */
export interface SecretUser {
  tenantId: string;
  tenantName: string;
  revisionId: string;
}

/** Reads secrets and records each use in the audit log of the tenant, with the revision. */
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
   * @param taking the delivery of the target whose engine gets the secrets
   * @returns a reader that throws AccessRefused or SecretUnavailable if the tenant has no such secret, or the target
   * does not accept it
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

/** Refuses a secret of another tenant like one that does not exist, so that a tenant cannot discover its name. */
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

/** A target that resolves references itself accepts only references. Every other target accepts only values. */
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

/** The error for a target that was removed. */
export const REMOVED_TARGET = "was removed from the operator's configuration and starts no new instances";

/** Checks what a workload's tenant may use now. The configuration may have changed since its spec was accepted. */
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
   * Checks an adopted server: another tenant's instance may have started at its address. A server on a removed target
   * continues, as an engine does.
   * @throws AccessRefused
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
   * @param driver the driver of the target whose engine gets the secrets
   * @returns a reader that throws AccessRefused or SecretUnavailable if the tenant has no such secret, or the target
   * does not accept it
   */
  secretsOf(
    { tenant_id, tenant_name, revision_id }: Pick<WorkloadRow, 'tenant_id' | 'tenant_name' | 'revision_id'>,
    driver?: Pick<TargetDriver, 'secrets'>,
  ): SecretReader {
    const user = { tenantId: tenant_id, tenantName: tenant_name, revisionId: revision_id };
    return this.secrets.readerOf(user, driver?.secrets);
  }

  /** Returns the values to hide in the output of an engine of the spec. */
  valuesIn(spec: RevisionSpec): string[] {
    return this.secrets.valuesIn(spec);
  }
}

const MOST_LISTED = 20;

/** Finds every reason why a spec cannot run for a tenant on the configured targets. */
@Injectable()
export class SpecCheck {
  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'operator'>,
    private readonly catalog: TargetCatalog,
    private readonly started: StartedInstances,
    private readonly devices: DeviceAssignments,
    private readonly names: AdoptedNames,
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
    issues.push(...this.names.issues(target, name, spec));
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
    const { instances: share } = shareOf(target.config, name, await hasNeighbours(tx, [target.config]));
    if (replicasOn(target, spec) > share && share < (max ?? Number.POSITIVE_INFINITY)) {
      issues.push({
        field: target.driver.adopts ? 'endpoint.base_urls' : 'scaling.min_replicas',
        code: 'not_allowed',
        message: `the tenant may use at most ${share} instances of target "${target.config.name}", which tenants share`,
      });
    }
    issues.push(...(await this.devices.issues(tx, target, spec, replicasOn(target, spec))));
    return [...issues, ...secretIssues(this.config.operator, name, spec, target.driver.secrets)];
  }
}

/** Returns the error for a target that the tenant does not have, with a list of those that it has. */
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

/** Returns the driver's issues for each URL, under the field of that URL. An issue of the entire spec appears once. */
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

/**
 * Returns exactly the driver's message for an address outside of its list, so that a tenant cannot discover others'
 * instances by trying.
 */
function foreignAddress({ config }: Target, tenantName: string): string {
  return outsideOf(originsFor(config.allow ?? [], tenantName));
}
