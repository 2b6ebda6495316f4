import { expect, it } from '@jest/globals';
import { objectsOf, type KubeObject } from './helm.js';
import { rawManifests } from './manifests.js';

const object = (kind: string, name: string, metadata: object = {}, rest: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind,
  metadata: { name, ...metadata },
  ...rest,
});

const HOOK = { annotations: { 'helm.sh/hook': 'pre-install,pre-upgrade' } };
const files = rawManifests(
  [
    object(
      'ConfigMap',
      'settings',
      { labels: { 'app.kubernetes.io/managed-by': 'Helm', app: 'slipway' } },
      { data: { a: 'off' } },
    ),
    object('Job', 'migrate', { ...HOOK, labels: { 'helm.sh/chart': 'slipway-1' } }),
    object('Pod', 'asks', { annotations: { 'helm.sh/hook': 'test' } }),
    object('Role', 'rights', { namespace: 'models' }, { rules: [{ verbs: ['get'] }] }),
    object(
      'NetworkPolicy',
      'engines',
      { namespace: 'models', annotations: { mine: 'y' } },
      { spec: { podSelector: { matchLabels: { 'app.kubernetes.io/managed-by': 'slipway' } } } },
    ),
  ],
  'slipway',
);

it('puts what is applied first, what is in other namespaces and the rest into separate files, without tests', () => {
  const names = [...files].map(([name, text]) => [name, objectsOf(text).map(({ metadata }) => metadata.name)]);
  expect(names).toEqual([
    ['migrate.yaml', ['migrate']],
    ['models.yaml', ['rights', 'engines']],
    ['slipway.yaml', ['settings']],
  ]);
});

it('adds the namespace to each object, and removes what only Helm reads', () => {
  const [migrate] = objectsOf(files.get('migrate.yaml')!);
  expect(migrate?.metadata).toEqual({ name: 'migrate', namespace: 'slipway' });
  const [settings] = objectsOf(files.get('slipway.yaml')!);
  expect(settings?.metadata.labels).toEqual({ app: 'slipway' });
  const [, engines] = objectsOf(files.get('models.yaml')!);
  expect(engines?.metadata).toEqual({ name: 'engines', namespace: 'models', annotations: { mine: 'y' } });
  expect(engines?.['spec']).toEqual({ podSelector: { matchLabels: { 'app.kubernetes.io/managed-by': 'slipway' } } });
});

it('keeps text as text if YAML 1.1 would read it as something else', () => {
  const [settings] = objectsOf(files.get('slipway.yaml')!);
  expect(settings?.['data']).toEqual({ a: 'off' });
  expect(() => objectsOf('a: 1\na: 2')).toThrow('unique');
});
