import { endpointUrls, namesTenant, OPERATOR_TENANT, systemActor, type RevisionSpec } from '@slipway/contracts';
import { Inject, Injectable } from '@nestjs/common';
import {
  CONFIG,
  resolveSecret,
  type Config,
  type OperatorConfig,
  type SecretConfig,
  type SecretReference,
} from '@slipway/platform-config';
import { checkUrl } from '@slipway/platform-egress';
import { ReadAudit } from '@slipway/platform-durable/mutations';
import type { RevisionSpecIssue } from '@slipway/ports/instances';
import type { TargetDriver } from '@slipway/target-driver';
import type { SecretReader } from '../catalog/target-catalog.js';

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
      message: `the value of secret "${name}" stands in Kubernetes, where this target cannot look: the operator keeps those for it in env or file`,
    };
  if (!kubernetes && taking === 'references')
    return {
      code: 'not_allowed',
      message: `this target takes secrets by reference alone: the operator declares "${name}" as {kubernetes: {name, key}}, or sets secrets: managed for the target`,
    };
  return undefined;
}

function mayBeSent(origins: readonly string[] | undefined, tenantName: string, url: string): boolean {
  return origins === undefined ? tenantName === OPERATOR_TENANT : checkUrl(origins, url).ok;
}
