import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from '@jest/globals';
import { ALL_VARIABLES, VARIABLES } from '@slipway/platform-config';
import { CHART, RAW, readYaml, ROOT } from '../src/chart.js';
import { objectsOf } from '../src/helm.js';
import { podsOf } from './pods.js';

const at = (...parts: string[]): string => readFileSync(path.join(ROOT, ...parts), 'utf8');
const KNOWN = [...at('docker/.env.example').matchAll(/^#? ?([A-Z][A-Z0-9_]+)=/gm)].map(([, name]) => name!);
const template = at('deploy/helm/slipway/templates/_environment.tpl');
const SET = [...new Set([...template.matchAll(/name(?:: |" ")([A-Z][A-Z0-9_]+)/g)].map(([, name]) => name!))];
/** Variables that the images set; the chart mounts the folders that they name. */
const OF_IMAGES = ['NODE_ENV', 'SLIPWAY_CONFIG', 'SLIPWAY_HOME'];

it('the chart sets only variables that .env.example lists', () => {
  expect(SET).toContain('DATABASE_URL');
  expect(SET.filter((name) => !KNOWN.includes(name))).toEqual([]);
});

it('`settings` accepts every other variable that is not a secret', () => {
  const schema = JSON.parse(readFileSync(path.join(CHART, 'values.schema.json'), 'utf8'));
  const others = VARIABLES.filter(({ secret }) => !secret)
    .map(({ name }) => name)
    .filter((name) => !OF_IMAGES.includes(name) && name !== 'SLIPWAY_PAUSE_POINT')
    // The chart derives these if the values do not set them.
    .filter((name) => !SET.includes(name) || /^SLIPWAY_(GATEWAY_)?PUBLIC_URL$/.test(name));
  expect(Object.keys(schema.properties.settings.properties).sort()).toEqual(others.sort());
});

it('the chart knows the processes of every variable', () => {
  const listed = readYaml(path.join(CHART, 'variables.yaml'));
  const pods = (processes: readonly string[]) => processes.filter((one) => one !== 'tools');
  expect(listed).toEqual(Object.fromEntries(ALL_VARIABLES.map(({ name, processes }) => [name, pods(processes)])));
});

it('the manifests without Helm give each process only variables that it reads, also where no Helm compares them', () => {
  const objects = ['migrate.yaml', 'slipway.yaml'].flatMap((file) =>
    objectsOf(readFileSync(path.join(RAW, file), 'utf8')),
  );
  const pods = podsOf(objects);
  expect(pods.map(({ of }) => of.metadata.name).sort()).toEqual(
    ['api', 'gateway', 'migrate', 'worker'].map((process) => `slipway-${process}`),
  );
  for (const { of, spec } of pods) {
    const process = of.metadata.name.replace('slipway-', '');
    const isRead = (name: string): boolean =>
      ALL_VARIABLES.some((row) => row.name === name && (row.processes as readonly string[]).includes(process));
    const names = spec.containers.flatMap(({ env = [] }) => env.map(({ name }) => name));
    expect(names).toContain('DATABASE_URL');
    expect([process, names.filter((name) => !isRead(name))]).toEqual([process, []]);
  }
});

it('the chart uses the user, the folders and the ports of the images', () => {
  const pod = at('deploy/helm/slipway/templates/_pod.tpl');
  for (const [app, port] of Object.entries({ api: 7070, worker: 9090, gateway: 7080 })) {
    const image = at('docker/Dockerfile');
    expect(image).toContain('USER 1000:1000');
    expect(image).toContain(`EXPOSE ${port}`);
    expect(at(`deploy/helm/slipway/templates/${app}.yaml`)).toContain(`"component" "${app}" "port" ${port}`);
    expect(/SLIPWAY_HOME=(\S+)/.exec(image)?.[1]).toBe('/var/lib/slipway');
    expect(/SLIPWAY_CONFIG=(\S+)/.exec(image)?.[1]).toBe('/etc/slipway/slipway.config.yaml');
  }
  expect(pod).toContain('mountPath: /var/lib/slipway');
  expect(pod).toContain('mountPath: /etc/slipway\n');
  expect(pod).toMatch(/runAsUser: 1000\nrunAsGroup: 1000/);
});

it('the Postgres for trials is that of the Compose file', () => {
  const { database } = readYaml(path.join(CHART, 'values.yaml')) as { database: { trial: { image: string } } };
  expect(at('docker/compose.yaml')).toContain(`image: ${database.trial.image}\n`);
});

it('the chart has the version of this repository', () => {
  const { version } = JSON.parse(at('package.json'));
  const { appVersion, annotations } = readYaml(path.join(CHART, 'Chart.yaml')) as {
    appVersion: string;
    annotations: Record<string, string>;
  };
  expect(appVersion).toBe(version);
  expect(annotations['artifacthub.io/images']!.match(/slipway-\w+:[^\s]+/g)).toEqual(
    ['api', 'worker', 'gateway'].map((app) => `slipway-${app}:${version}`),
  );
});
