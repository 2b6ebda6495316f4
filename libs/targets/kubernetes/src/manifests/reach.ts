import { isIPv6 } from 'node:net';
import { withoutTrailingSlashes } from '@slipway/contracts';
import { fillPlaceholders, placeholderProblems, placeholdersIn } from '@slipway/target-driver';
import type { KubernetesTargetConfig } from '../target-config.js';

const KNOWN = new Set(['unit', 'namespace']);

/** The location of a unit's engine. */
export interface EngineLocation {
  unit: string;
  namespace: string;
  port: number;
  /** Its Service, if it has one. */
  service?: string;
  /** Unknown until the pod has an address, and only needed for `reach: pod`. */
  podIp?: string;
}

/** The URL by which gateways reach an engine, without a trailing slash. Undefined while its pod has no address. */
export function baseUrlOf(
  { reach }: Pick<KubernetesTargetConfig, 'reach'>,
  { unit, namespace, port, service = unit, podIp }: EngineLocation,
): string | undefined {
  if (typeof reach === 'object') {
    const url = fillPlaceholders(
      reach.url,
      new Map([
        ['unit', unit],
        ['namespace', namespace],
      ]),
    );
    return url === undefined ? undefined : withoutTrailingSlashes(url);
  }
  if (reach === 'service') return `http://${service}.${namespace}.svc:${port}`;
  if (podIp === undefined || podIp === '') return undefined;
  return `http://${isIPv6(podIp) ? `[${podIp}]` : podIp}:${port}`;
}

/** Problems of the URL of `reach`: each unit must have one of its own. */
export function urlProblems(
  url: string,
  { by_tenant: byTenant }: Pick<KubernetesTargetConfig['namespaces'], 'by_tenant'>,
): string[] {
  const unknown = placeholderProblems(url, KNOWN);
  if (unknown.length > 0) return unknown;
  const names = placeholdersIn(url);
  const problems: string[] = [];
  if (!names.includes('unit')) problems.push('must contain {unit}, so that each instance has a URL of its own');
  if (Object.keys(byTenant).length > 0 && !names.includes('namespace'))
    problems.push('must contain {namespace}, because there are several namespaces');
  if (
    !isHttpUrl(
      fillPlaceholders(
        url,
        new Map([
          ['unit', 'u'],
          ['namespace', 'n'],
        ]),
      ) ?? '',
    )
  )
    problems.push('must be an http or https URL without user, query and fragment, as in https://{unit}.models.example');
  return problems;
}

function isHttpUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, search, hash } = new URL(text);
  return /^https?:$/.test(protocol) && [username, password, search, hash].every((part) => part === '');
}
