import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from '@jest/globals';
import { chartRules, RAW, ROOT, type ChartRule } from '../src/chart.js';
import { objectsOf } from '../src/helm.js';
import { outsideManifest } from '../src/manifests.js';

interface Rule {
  group: string;
  resource: string;
  subresource?: string;
  verb: string;
}

interface Needs {
  writesSecrets: boolean;
  usesGroups: boolean;
  usesInferencePools: boolean;
}

// Not imported by the name of the library: the library exports only the kind to callers of drivers, and this list is
// shared by the driver and the chart alone.
const { neededRules }: { neededRules: (needs: Needs) => Rule[] } = await import(
  path.join(ROOT, 'libs/targets/kubernetes/src/health/target-health-rules.ts')
);

/** Texts such as `create deployments.apps`, one for each verb. */
const texts = (rules: readonly ChartRule[]): string[] =>
  rules
    .flatMap(({ apiGroups, resources, verbs }) =>
      apiGroups.flatMap((group) =>
        resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource}${group === '' ? '' : `.${group}`}`)),
      ),
    )
    .sort();
const needed = (needs: Needs): string[] =>
  neededRules(needs)
    .map(({ group, resource, subresource, verb }) => {
      const name = subresource === undefined ? resource : `${resource}/${subresource}`;
      return `${verb} ${name}${group === '' ? '' : `.${group}`}`;
    })
    .sort();
const worker = chartRules();

it('the worker gets exactly the rights that the driver uses', () => {
  for (let bits = 0; bits < 8; bits += 1) {
    const needs = { writesSecrets: (bits & 1) > 0, usesGroups: (bits & 2) > 0, usesInferencePools: (bits & 4) > 0 };
    const values: Record<string, boolean> = { always: true, ...needs };
    expect(texts(worker.filter(({ when }) => values[when]))).toEqual(needed(needs));
  }
  expect(texts(worker)).toEqual(needed({ writesSecrets: true, usesGroups: true, usesInferencePools: true }));
});

it('no right reaches further than a namespace of models', () => {
  const forbidden = [
    '*',
    'nodes',
    'namespaces',
    'pods/exec',
    'pods/attach',
    'pods/portforward',
    'roles',
    'rolebindings',
  ];
  expect(worker.flatMap(({ resources }) => resources).filter((one) => forbidden.includes(one))).toEqual([]);
  expect(
    worker.flatMap(({ verbs }) => verbs).filter((verb) => ['*', 'update', 'escalate', 'bind'].includes(verb)),
  ).toEqual([]);
  expect(worker.filter(({ resources, verbs }) => resources.includes('secrets') && verbs.join() !== 'create')).toEqual(
    [],
  );
});

it('the Role for a Slipway outside of the cluster has the rights without groups and InferencePools', () => {
  const committed = objectsOf(readFileSync(path.join(RAW, 'outside-cluster.yaml'), 'utf8'));
  expect(committed).toEqual(objectsOf(outsideManifest(worker, 'slipway')));
  const [role] = committed as unknown as [{ rules: ChartRule[] }];
  expect(texts(role.rules)).toEqual(needed({ writesSecrets: true, usesGroups: false, usesInferencePools: false }));
});
