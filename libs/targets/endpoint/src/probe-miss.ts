import type { HealthAnswer, InstanceSpec } from '@slipway/target-driver';

const MOST_SHOWN = 200;

/** What a health probe found instead of a healthy server, and which field of the spec is to be looked at. */
export function missMessage(
  { probe }: Pick<InstanceSpec, 'probe'>,
  asked: string,
  { status, cause }: HealthAnswer,
): string {
  const url = shown(asked);
  if (status === undefined) return `${url}: ${cause}`;
  const pathField = probe.path === undefined ? 'endpoint.health_path' : 'probes.path';
  if (status === 404) return `${url} answered 404: set ${pathField} to a path that the server answers with 200`;
  if (status === 401 || status === 403)
    return `${url} answered ${status}: endpoint.credential_ref must name a secret that the server takes`;
  if (status >= 300 && status < 400)
    return `${url} answered ${status}, a redirect, and none is followed: endpoint.base_url must be where the server itself is`;
  return `${url} answered ${status}`;
}

function shown(url: string): string {
  return url.length > MOST_SHOWN ? `${url.slice(0, MOST_SHOWN)}…` : url;
}
