import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

/** The root of the workspace; this file is three levels below it, in src and in dist. */
export const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
export const CHART = path.join(ROOT, 'deploy/helm/slipway');
export const RAW = path.join(ROOT, 'deploy/kubernetes');
/** The values for production. deploy/kubernetes has what the chart renders with them. */
export const PRODUCTION = path.join(CHART, 'values-production.yaml');

const OBSERVABILITY = path.join(ROOT, 'deploy/observability');
const DASHBOARDS = path.join(OBSERVABILITY, 'dashboards');
const FILES = path.join(CHART, 'files');

export type Bag = Record<string, unknown>;

/**
 * A right in a namespace of models, as in rbac-rules.yaml. `when` is `always`, or the value of `targets` that enables
 * it.
 */
export interface ChartRule {
  when: string;
  apiGroups: string[];
  resources: string[];
  verbs: string[];
}

export function readYaml(file: string): Bag {
  return parse(readFileSync(file, 'utf8')) as Bag;
}

/** The values files that the chart brings: its examples by their names without `-values.yaml`, and `production`. */
export function exampleValues(): Map<string, string> {
  const folder = path.join(CHART, 'ci');
  const files = readdirSync(folder).filter((name) => name.endsWith('-values.yaml'));
  const examples = files.map((name): [string, string] => [name.replace(/-values\.yaml$/, ''), path.join(folder, name)]);
  return new Map([...examples, ['production', PRODUCTION]]);
}

/**
 * Files of the chart that are copies, with their sources. A chart contains only its own folder, and Helm reports each
 * symbolic link to every user. `node tools/chart/dist/main.js` writes them; a test compares them.
 */
export function copiedFiles(): { source: string; copy: string }[] {
  const dashboards = readdirSync(DASHBOARDS).filter((name) => name.endsWith('.json'));
  return [
    { source: path.join(ROOT, 'docker/postgres-init.sh'), copy: path.join(FILES, 'postgres-init.sh') },
    { source: path.join(OBSERVABILITY, 'alerts.yaml'), copy: path.join(FILES, 'alerts.yaml') },
    ...dashboards.map((name) => ({ source: path.join(DASHBOARDS, name), copy: path.join(FILES, 'dashboards', name) })),
  ];
}

/** Rights of the worker in a namespace of models; no other process has any. */
export function chartRules(): ChartRule[] {
  return readYaml(path.join(CHART, 'rbac-rules.yaml'))['worker'] as ChartRule[];
}

/** Merges values as Helm does: mappings key by key, `null` removes a key, everything else replaces. */
export function mergedValues(base: unknown, over: unknown): unknown {
  if (!isBag(base) || !isBag(over)) return over;
  const keys = [...new Set([...Object.keys(base), ...Object.keys(over)])];
  return Object.fromEntries(
    keys
      .filter((key) => over[key] !== null)
      .map((key) => [key, over[key] === undefined ? base[key] : mergedValues(base[key], over[key])]),
  );
}

/**
 * The program in the folder of SLIPWAY_KUBE_BIN.
 * @returns undefined if there is no such folder, or no such program in it
 */
export function kubeProgram(name: 'helm' | 'kubectl', folder: string | undefined): string | undefined {
  const file = folder ? path.join(folder, name) : '';
  return file !== '' && existsSync(file) ? file : undefined;
}

export function isBag(value: unknown): value is Bag {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
