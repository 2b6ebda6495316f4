import { endpointUrls, namesTenant, OPERATOR_TENANT, systemActor, type RevisionSpec } from '@slipway/contracts';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, resolveSecret, type Config, type OperatorConfig } from '@slipway/platform-config';
import { checkUrl } from '@slipway/platform-egress';
import { ReadAudit } from '@slipway/platform-mutations';
import type { SpecIssue } from '@slipway/ports/instances';
import type { SecretReader } from './instance-spec.js';

type Operator = Pick<OperatorConfig, 'secrets'>;

/** Thrown if a secret that a spec names has no value now. The message names the secret, never its value. */
export class SecretUnavailable extends Error {}

/** Thrown for what the operator's configuration does not give to a tenant. Waiting does not help. */
export class AccessRefused extends Error {}

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

export function secretIssues(operator: Operator, tenantName: string, spec: RevisionSpec): SpecIssue[] {
  const issues = secretUses(spec).flatMap(({ field, ...use }) => {
    const refusal = refusalOf(operator, tenantName, use);
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
export function readSecret(operator: OperatorConfig, tenantName: string, name: string, sentTo?: string): string {
  const refusal = refusalOf(operator, tenantName, { name, sentTo });
  if (refusal) throw new AccessRefused(refusal.message);
  try {
    return resolveSecret(operator, name);
  } catch (error) {
    throw new SecretUnavailable(error instanceof Error ? error.message : String(error));
  }
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

  /** @returns what throws AccessRefused or SecretUnavailable where there is no value for the tenant */
  readerOf({ tenantId, tenantName, revisionId }: SecretUser): SecretReader {
    return (name, sentTo) => {
      const value = readSecret(this.config.operator, tenantName, name, sentTo);
      const actor = systemActor(`revision/${revisionId}`);
      this.reads.record({ tenantId, action: 'secret.used', resourceType: 'secret', resourceName: name, actor });
      return value;
    };
  }
}

/** A secret of others is told as one that does not exist, so that nobody learns names. */
function refusalOf(
  { secrets }: Operator,
  tenantName: string,
  { name, sentTo }: SecretUse,
): Omit<SpecIssue, 'field'> | undefined {
  const secret = Object.hasOwn(secrets, name) ? secrets[name] : undefined;
  if (!secret || !namesTenant(secret.tenants ?? [OPERATOR_TENANT], tenantName))
    return { code: 'unknown', message: `the operator's configuration has no secret "${name}"` };
  if (sentTo === undefined || mayBeSent(secret.origins, tenantName, sentTo)) return undefined;
  return { code: 'not_allowed', message: `secret "${name}" may not be sent to this address` };
}

function mayBeSent(origins: readonly string[] | undefined, tenantName: string, url: string): boolean {
  return origins === undefined ? tenantName === OPERATOR_TENANT : checkUrl(origins, url).ok;
}
