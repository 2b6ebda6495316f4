import { stringify } from 'yaml';
import { isBag, type Bag } from './chart.js';
import type { KubeObject } from './helm.js';

const HOOK = 'helm.sh/hook';
const HEADER =
  '# Made by `node tools/chart/dist/main.js` of deploy/helm/slipway with values.yaml of this folder. Change those.\n';

/**
 * What the chart renders, as files for `kubectl apply`, by their names: migrate.yaml is applied first and waited for, models.yaml lies in
 * namespaces of models, slipway.yaml is everything else. Tests of the chart, and what only Helm reads, are left out.
 */
export function rawManifests(objects: readonly KubeObject[], namespace: string): Map<string, string> {
  const files = new Map<string, KubeObject[]>([
    ['migrate.yaml', []],
    ['models.yaml', []],
    ['slipway.yaml', []],
  ]);
  for (const object of objects) {
    const hook = object.metadata.annotations?.[HOOK];
    if (hook === 'test') continue;
    const isForeign = (object.metadata.namespace ?? namespace) !== namespace;
    const file = hook !== undefined ? 'migrate.yaml' : isForeign ? 'models.yaml' : 'slipway.yaml';
    files.get(file)?.push(withoutHelm(object, namespace));
  }
  return new Map([...files].map(([name, found]) => [name, HEADER + found.map(documentOf).join('---\n')]));
}

function withoutHelm(object: KubeObject, namespace: string): KubeObject {
  const { metadata, ...rest } = strippedOf(object) as KubeObject;
  const { name, ...others } = metadata;
  return { ...rest, metadata: { name, namespace, ...others } } as KubeObject;
}

/** Labels and annotations of Helm stand in metadata of objects and of pod templates alike. */
function strippedOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(strippedOf);
  if (!isBag(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, one]): [string, unknown][] => {
      const isNotes = (key === 'labels' || key === 'annotations') && isBag(one);
      if (!isNotes) return [[key, strippedOf(one)]];
      const kept = Object.entries(one).filter(([name, text]) => !isHelms(name, text));
      return kept.length === 0 ? [] : [[key, Object.fromEntries(kept)]];
    }),
  );
}

function isHelms(name: string, text: unknown): boolean {
  return name.startsWith('helm.sh/') || (name === 'app.kubernetes.io/managed-by' && text === 'Helm');
}

function documentOf({ apiVersion, kind, metadata, ...rest }: KubeObject): string {
  const ordered: Bag = { apiVersion, kind, metadata, ...rest };
  return stringify(ordered, { version: '1.1', lineWidth: 0, singleQuote: true, aliasDuplicateObjects: false });
}
