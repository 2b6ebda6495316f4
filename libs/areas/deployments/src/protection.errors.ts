import { defineErrors, errors, type Principal } from '@slipway/platform-http';
import type { Deployment } from '@slipway/ports/deployment-records';

export const protectionErrors = defineErrors({
  deployment_protected: {
    status: 409,
    category: 'conflict',
    message: 'The deployment is protected from this change.',
    remediation: 'An admin can lift the protection with PATCH /api/v1/deployments/{name}.',
  },
});

/**
 * Checks that the deployment may be deleted.
 * @throws deployment_protected (409), with the field that forbids it
 */
export function assertDeletable({ name, protection }: Pick<Deployment, 'name' | 'protection'>): void {
  if (!protection.deletion) return;
  const message = `Deployment ${name} is protected from deletion: its protection.deletion is true.`;
  throw protectionErrors.deployment_protected({
    message,
    details: [{ field: 'protection.deletion', code: 'protected', message }],
    remediation: `An admin can lift the protection: PATCH /api/v1/deployments/${name} {"protection": {"deletion": false}}.`,
  });
}

/**
 * Checks that the caller may lower the protection of a deployment.
 * @param message why this needs an admin
 * @throws scope_insufficient (403)
 */
export function assertMayLower(principal: Pick<Principal, 'scopes'> | undefined, message: string): void {
  if (principal?.scopes.has('admin')) return;
  throw errors.scope_insufficient({
    message,
    remediation: 'Ask an admin to make the change, or send a token with the scope admin.',
    extra: { required_scope: 'admin' },
  });
}
