import type { Values } from './variables.js';

/** What is wrong with the variables of the hosted identity provider, taken together. */
export function identityProblems(env: NodeJS.ProcessEnv, values: Values, production: boolean): string[] {
  const names = ['SLIPWAY_IDENTITY_ISSUER', 'SLIPWAY_IDENTITY_AUDIENCE', 'SLIPWAY_IDENTITY_JWKS_URL'];
  const missing = names.filter((name) => !env[name]?.trim());
  const problems =
    missing.length > 0 && missing.length < names.length
      ? missing.map((name) => `${name} is required where the other SLIPWAY_IDENTITY_ variables are set`)
      : [];
  // Whoever can change the keys in transit can sign in as anybody.
  if (production && isInTheOpen(values.identityJwksUrl))
    problems.push('SLIPWAY_IDENTITY_JWKS_URL must use https when NODE_ENV=production');
  if (production && values.identityClientId && isInTheOpen(values.identityIssuer))
    problems.push(
      'SLIPWAY_IDENTITY_ISSUER must use https when NODE_ENV=production: codes and secrets of sign-ins go there',
    );
  if (values.identityClientId && missing.length > 0)
    problems.push('SLIPWAY_IDENTITY_CLIENT_ID needs the other SLIPWAY_IDENTITY_ variables');
  if (values.identityClientSecret && !values.identityClientId)
    problems.push('SLIPWAY_IDENTITY_CLIENT_ID is required where SLIPWAY_IDENTITY_CLIENT_SECRET is set');
  if (values.identityClientId && !values.publicUrl)
    problems.push(
      'SLIPWAY_PUBLIC_URL is required where SLIPWAY_IDENTITY_CLIENT_ID is set: the provider sends people back there',
    );
  return problems;
}

/** Whether what is sent there can be read on the way. */
function isInTheOpen(address: string | undefined): boolean {
  const url = address === undefined ? undefined : new URL(address);
  return url?.protocol === 'http:' && !['127.0.0.1', 'localhost', '[::1]'].includes(url.hostname);
}
