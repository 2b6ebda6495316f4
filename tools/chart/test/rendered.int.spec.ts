import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { beforeAll, describe, expect, jest } from '@jest/globals';
import { ALL_VARIABLES, loadConfig, VARIABLES, type ProcessName } from '@slipway/platform-config';
import { TARGETS } from '@slipway/registry/targets';
import { kubernetesTarget } from '@slipway/target-kubernetes';
import { CHART, exampleValues, PRODUCTION, RAW, readYaml, ROOT } from '../src/chart.js';
import { objectsOf, renderChart, runHelm, type KubeObject } from '../src/helm.js';
import { rawManifests } from '../src/manifests.js';
import { containersOf, environmentOf, found, isSelected, nameOf, podsOf } from './pods.js';
import { helm, itWith } from './programs.js';

// Dozens of renderings, of up to some seconds each on a busy machine.
jest.setTimeout(300_000);
const it = itWith(helm);
const KINDS = [...TARGETS.filter(({ kind }) => kind !== kubernetesTarget.kind), kubernetesTarget];
const EXAMPLES = [...exampleValues()];
/** A file, because Helm reads a number from `--set` as another type. */
const BIG = path.join(ROOT, 'tools/chart/test/big-number.yaml');
const SERVICE_MONITOR = 'monitoring.coreos.com/v1';
const rendered = new Map<string, KubeObject[]>();

beforeAll(async () => {
  if (helm === '') return;
  for (const [name, file] of EXAMPLES) rendered.set(name, await renderChart({ helm, values: [file] }));
});

const known = readFileSync(path.join(ROOT, 'docker/.env.example'), 'utf8');
const KNOWN = [...known.matchAll(/^#? ?([A-Z][A-Z0-9_]+)=/gm)].map(([, name]) => name!);
const SECRET = VARIABLES.filter(({ secret }) => secret).map(({ name }) => name);
const AWS = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN'];
/** Variables of `extraEnv` in the examples. */
const EXTRA = ['AWS_REGION', 'NODE_EXTRA_CA_CERTS'];
/** The user in the image of Postgres is another one than in ours. */
const userOf = ({ metadata }: KubeObject): number => (metadata.name === 'slipway-postgres' ? 999 : 1000);

describe.each(EXAMPLES)('%s', (name, file) => {
  const objects = (): KubeObject[] => rendered.get(name)!;

  it('passes helm lint --strict', async () => {
    expect(await runHelm(helm, ['lint', CHART, '--strict', '--values', file])).toContain('0 chart(s) failed');
  });

  it('creates api, worker, gateway, the migration and three tests, and a Postgres only if the values name none', () => {
    const pods = podsOf(objects()).map(({ of }) => of.metadata.name);
    const expected = ['api', 'gateway', 'migrate', 'test-api', 'test-gateway', 'test-worker', 'worker'];
    if (name === 'default') expected.push('postgres');
    expect(pods.sort()).toEqual(expected.map((one) => `slipway-${one}`).sort());
  });

  it('contains no object twice', () => {
    const names = objects().map((one) => `${one.metadata.namespace ?? ''}/${nameOf(one)}`);
    expect(new Set(names).size).toBe(names.length);
  });

  it('meets Pod Security restricted, with a read-only root and bounded memory', () => {
    for (const { of, spec } of podsOf(objects())) {
      const at = nameOf(of);
      expect([at, spec.securityContext]).toEqual([
        at,
        expect.objectContaining({
          runAsNonRoot: true,
          runAsUser: userOf(of),
          seccompProfile: { type: 'RuntimeDefault' },
        }),
      ]);
      expect([at, spec['hostNetwork'], spec['hostPID'], spec['hostIPC']]).toEqual([
        at,
        undefined,
        undefined,
        undefined,
      ]);
      for (const volume of spec.volumes ?? []) {
        const [source] = Object.keys(volume).filter((key) => key !== 'name');
        expect(['configMap', 'emptyDir', 'persistentVolumeClaim', 'projected', 'secret']).toContain(source);
        if (source === 'emptyDir') expect(volume['emptyDir']).toHaveProperty('sizeLimit');
      }
      for (const container of containersOf(spec)) {
        expect([at, container.securityContext]).toEqual([
          at,
          { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
        ]);
        expect([at, container.resources?.limits?.['memory']]).toEqual([at, expect.any(String)]);
      }
    }
  });

  it('contains secrets only as references, and only variables that .env.example lists', () => {
    const made = objects().filter(({ kind }) => kind === 'Secret');
    const expected = ['slipway-bootstrap', 'slipway-key', 'slipway-postgres'];
    expect(made.map(({ metadata }) => metadata.name).sort()).toEqual(name === 'default' ? expected : []);
    for (const { of, spec } of podsOf(objects()))
      for (const { env = [] } of containersOf(spec)) {
        const names = env.map((one) => one.name);
        const own = of.metadata.name === 'slipway-postgres' ? [] : names;
        expect([nameOf(of), own.filter((one) => ![...KNOWN, ...EXTRA].includes(one))]).toEqual([nameOf(of), []]);
        expect(new Set(names).size).toBe(names.length);
        const plain = env.filter((one) => one.value !== undefined).map((one) => one.name);
        expect(plain.filter((one) => SECRET.includes(one) || AWS.includes(one) || /PASSWORD/.test(one))).toEqual([]);
      }
  });

  it('gives each process only variables that it reads', () => {
    for (const process of ['api', 'worker', 'gateway', 'migrate'] as const) {
      const [pod] = podsOf(objects()).filter(({ of }) => of.metadata.name === `slipway-${process}`);
      const given = pod!.spec.containers[0]!.env!.map((one) => one.name);
      const names = given.filter((one) => !EXTRA.includes(one));
      const isRead = (name: string): boolean =>
        ALL_VARIABLES.some((row) => row.name === name && row.processes.includes(process satisfies ProcessName));
      expect(names).toContain('DATABASE_URL');
      expect([process, names.filter((name) => !isRead(name))]).toEqual([process, []]);
    }
  });

  it('gives a gateway a login that no other process has', () => {
    const keyOf = (process: string, name: string) => {
      const [pod] = podsOf(objects()).filter(({ of }) => of.metadata.name === `slipway-${process}`);
      return pod!.spec.containers[0]!.env!.find((one) => one.name === name)?.valueFrom?.secretKeyRef?.key;
    };
    const own = keyOf('gateway', 'DATABASE_URL');
    expect(own).toBeDefined();
    expect(keyOf('migrate', 'SLIPWAY_GATEWAY_DATABASE_URL')).toBe(own);
    for (const process of ['api', 'worker', 'migrate']) expect(keyOf(process, 'DATABASE_URL')).not.toBe(own);
  });

  it('gives each process a configuration with which it starts in production', () => {
    const text = found(objects(), 'ConfigMap', 'slipway-config').data['slipway.config.yaml'] as string;
    const folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-chart-'));
    try {
      writeFileSync(path.join(folder, 'slipway.config.yaml'), text);
      const image = { NODE_ENV: 'production', SLIPWAY_HOST: '0.0.0.0', SLIPWAY_HOME: '/var/lib/slipway' };
      const configs = (['api', 'worker', 'gateway', 'migrate'] as const).map((process) => {
        const [pod] = podsOf(objects()).filter(({ of }) => of.metadata.name === `slipway-${process}`);
        const env = { ...image, ...environmentOf(pod!.spec.containers[0]!) };
        return loadConfig(env, folder, { process, ...(process === 'gateway' ? {} : { targets: KINDS }) });
      });
      expect(configs.map(({ apiPort, gatewayPort }) => [apiPort, gatewayPort])).toEqual(
        configs.map(() => [7070, 7080]),
      );
      expect(configs.slice(0, 3).map(({ metricsPort }) => metricsPort)).toEqual([9090, 9090, 9090]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('probes each process at its port, and gives it time to stop', () => {
    const ports = { api: 7070, worker: 9090, gateway: 7080 };
    for (const { of, spec } of podsOf(objects())) {
      const [container] = spec.containers;
      const port = ports[container!.name as keyof typeof ports];
      if (port === undefined) continue;
      expect([nameOf(of), container!.livenessProbe?.httpGet]).toEqual([nameOf(of), { path: '/healthz', port }]);
      expect(container!.readinessProbe?.httpGet).toEqual({ path: '/readyz', port });
      const values = container!.env!.filter(({ name }) => name.endsWith('_PORT')).map(({ value }) => value);
      expect(values.sort()).toEqual([...new Set([String(port), '9090'])].sort());
      expect(spec.enableServiceLinks).toBe(false);
      const sleep = container!.lifecycle?.preStop?.sleep?.seconds ?? 0;
      const drain = container!.env!.find(({ name }) => name === 'SLIPWAY_GATEWAY_DRAIN_SECONDS')?.value ?? '25';
      expect(spec.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(sleep + Number(drain));
    }
  });

  it('has pods for every Service, policy and budget that selects some', () => {
    const labels = podsOf(objects()).map((pod) => pod.labels);
    const selectors = objects().flatMap((object): [string, Record<string, string>][] => {
      const { selector, podSelector } = (object['spec'] ?? {}) as { selector?: any; podSelector?: any };
      const wanted = object.kind === 'Service' ? selector : (podSelector ?? selector)?.matchLabels;
      const isOurs = (object.metadata.namespace ?? 'slipway') === 'slipway';
      return wanted && isOurs && object.kind !== 'ServiceMonitor' ? [[nameOf(object), wanted]] : [];
    });
    expect(selectors.length).toBeGreaterThan(6);
    for (const [at, selector] of selectors)
      expect([at, labels.some((one) => isSelected(selector, one))]).toEqual([at, true]);
  });

  it('tests each process through its own Service', () => {
    for (const process of ['api', 'worker', 'gateway']) {
      const { spec } = found(objects(), 'Pod', `slipway-test-${process}`);
      const url = new URL(spec.containers[0].command.at(-1));
      const service = found(objects(), 'Service', url.hostname);
      expect(service.spec.selector['app.kubernetes.io/component']).toBe(process);
      expect(service.spec.ports.map(({ port }: { port: number }) => port)).toContain(Number(url.port));
      expect(url.pathname).toBe('/readyz');
    }
  });

  it('gives a token only to the worker, and only if there are namespaces of models', () => {
    const hasModels = objects().some(({ kind }) => kind === 'Role');
    const tokens = podsOf(objects()).filter(({ spec }) => spec.automountServiceAccountToken !== false);
    expect(tokens.map(({ of }) => of.metadata.name).sort()).toEqual(hasModels ? ['slipway-worker'] : []);
  });
});

describe('the chart', () => {
  it('renders a ServiceMonitor only if the cluster has the API', async () => {
    const values = [exampleValues().get('ha')!];
    const kinds = async (apiVersions: string[]): Promise<string[]> =>
      (await renderChart({ helm, values, apiVersions })).map(({ kind }) => kind);
    expect(await kinds([])).not.toContain('ServiceMonitor');
    expect(await kinds([SERVICE_MONITOR])).toContain('ServiceMonitor');
  });

  it('renders alert rules and dashboards whole, only if the values ask for them', async () => {
    const values = [exampleValues().get('default')!];
    const named = (objects: KubeObject[]): string[] => objects.map(nameOf);
    const wanted = ['PrometheusRule slipway', 'ConfigMap slipway-dashboards'];
    expect(named(rendered.get('default')!).filter((one) => wanted.includes(one))).toEqual([]);
    const set = ['metrics.prometheusRule.enabled=true', 'metrics.dashboards.enabled=true'];
    const objects = await renderChart({ helm, values, set });
    const alerts = readYaml(path.join(ROOT, 'deploy/observability/alerts.yaml'));
    expect(found(objects, 'PrometheusRule', 'slipway').spec).toEqual(alerts);
    const { metadata, data } = found(objects, 'ConfigMap', 'slipway-dashboards');
    expect(metadata.labels).toMatchObject({ grafana_dashboard: '1' });
    const folder = path.join(ROOT, 'deploy/observability/dashboards');
    const dashboards = readdirSync(folder).filter((name) => name.endsWith('.json'));
    expect(Object.keys(data)).toEqual(dashboards.map((name) => `slipway-${name}`).sort());
    for (const name of dashboards)
      expect(JSON.parse(data[`slipway-${name}`])).toEqual(JSON.parse(readFileSync(path.join(folder, name), 'utf8')));
  });

  it('renders large numbers in full, and gives a gateway no settings of queue, bucket and first token', async () => {
    const set = ['settings.SLIPWAY_RATE_LIMIT_READS=1000000000', 'settings.SLIPWAY_LOG_LEVEL=debug'];
    const objects = await renderChart({ helm, values: [exampleValues().get('ha')!, BIG], set });
    const envOf = (name: string): Map<string, string | undefined> => {
      const [pod] = podsOf(objects.filter(({ metadata }) => metadata.name === name));
      return new Map(pod!.spec.containers[0]!.env!.map((one) => [one.name, one.value]));
    };
    const [api, gateway] = [envOf('slipway-api'), envOf('slipway-gateway')];
    expect(api.get('SLIPWAY_UPLOAD_MAX_BYTES')).toBe('104857600');
    expect(api.get('SLIPWAY_RATE_LIMIT_READS')).toBe('1000000000');
    expect(api.get('SLIPWAY_LOG_LEVEL')).toBe('debug');
    const kept = ['AWS_ACCESS_KEY_ID', 'SLIPWAY_WORKSPACE_STORE', 'SLIPWAY_BOOTSTRAP_TOKEN'];
    expect(kept.filter((name) => api.has(name))).toEqual(kept);
    expect(['slipway-api', 'slipway-worker'].map((name) => envOf(name).has('REDIS_URL'))).toEqual([false, true]);
    expect(kept.filter((name) => gateway.has(name))).toEqual([]);
  });

  it('renders no number of replicas with an HPA, which owns it', () => {
    const ha = rendered.get('ha')!;
    expect(found(ha, 'Deployment', 'slipway-api').spec).not.toHaveProperty('replicas');
    expect(found(ha, 'StatefulSet', 'slipway-gateway').spec).not.toHaveProperty('replicas');
    expect(found(ha, 'Deployment', 'slipway-worker').spec.replicas).toBe(3);
    expect(found(ha, 'HorizontalPodAutoscaler', 'slipway-gateway').spec.scaleTargetRef.kind).toBe('StatefulSet');
    expect(ha.filter(({ kind }) => kind === 'HorizontalPodAutoscaler')).toHaveLength(2);
  });

  it('renders one gateway without a volume by default, and its successor is ready before it stops', () => {
    const minimal = rendered.get('minimal')!;
    const { spec } = podsOf(minimal).find(({ of }) => of.metadata.name === 'slipway-gateway')!;
    const gateway = found(minimal, 'Deployment', 'slipway-gateway').spec;
    expect([gateway.replicas, gateway.strategy.rollingUpdate]).toEqual([1, { maxUnavailable: 0, maxSurge: 1 }]);
    expect(spec.volumes?.find(({ name }) => name === 'home')).toHaveProperty('emptyDir');
  });

  it('renders three gateways with a volume each for production, and refuses fewer with volumes', async () => {
    const { spec } = found(rendered.get('production')!, 'StatefulSet', 'slipway-gateway');
    expect([spec.replicas, spec.volumeClaimTemplates]).toEqual([3, [expect.anything()]]);
    const wrong = (...set: string[]) => renderChart({ helm, values: [PRODUCTION], set });
    await expect(wrong('gateway.replicas=2')).rejects.toThrow('at least three gateways');
    const hpa = ['gateway.hpa.enabled=true', 'gateway.hpa.minReplicas=2'];
    await expect(wrong(...hpa)).rejects.toThrow('at least three gateways');
    await expect(wrong('gateway.replicas=2', 'gateway.persistence.enabled=false')).resolves.toBeDefined();
  });

  it('makes Secrets that fit together, with 256 bits each, and new ones for another release', async () => {
    const secretsOf = async (): Promise<Record<string, string>> => {
      const secrets = (await renderChart({ helm })).filter(({ kind }) => kind === 'Secret');
      for (const { metadata } of secrets) expect(metadata.annotations).toEqual({ 'helm.sh/resource-policy': 'keep' });
      const pairs = secrets.flatMap((one) => Object.entries(one['data'] as Record<string, string>));
      return Object.fromEntries(pairs.map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]));
    };
    const [first, second] = [await secretsOf(), await secretsOf()];
    expect(Buffer.from(first['key']!, 'base64')).toHaveLength(32);
    expect(first['token']).toMatch(/^slw_bootstrap_[0-9a-f]{64}$/);
    const urls = ['url', 'owner-url', 'gateway-url'].map((key) => new URL(first[key]!));
    expect(urls.map(({ host, pathname }) => host + pathname)).toEqual(urls.map(() => 'slipway-postgres:5432/slipway'));
    expect(urls.map(({ username }) => username)).toEqual(['slipway_app', 'slipway', 'slipway_gateway_app']);
    const [app, owner, gateway] = urls.map(({ password }) => password);
    expect([app, owner]).toEqual([first['app-password'], first['owner-password']]);
    expect(new Set([app, owner, gateway]).size).toBe(3);
    expect(Object.keys(first).filter((key) => first[key] === second[key])).toEqual([]);
  });

  it('gives the login of the owner to the migration alone, also with the Postgres for trials', () => {
    for (const [example] of EXAMPLES) {
      const readers = podsOf(rendered.get(example)!).flatMap(({ of, spec }) =>
        containersOf(spec)
          .filter(({ env = [] }) => env.some(({ valueFrom }) => valueFrom?.secretKeyRef?.key.startsWith('owner-')))
          .map((container) => `${of.metadata.name}/${container.name}`),
      );
      const ofTrial = ['slipway-api/migrate', 'slipway-api/wait', 'slipway-postgres/postgres'];
      expect(readers.sort()).toEqual([...(example === 'default' ? ofTrial : []), 'slipway-migrate/migrate'].sort());
    }
  });

  it('adds variables, volumes and mounts of the values to each process and the migration', async () => {
    const components = ['migrations', 'api', 'worker', 'gateway'];
    const set = components.flatMap((one) => [
      `${one}.extraEnv[0].name=EXTRA`,
      `${one}.extraEnv[0].value=${one}`,
      `${one}.extraVolumes[0].name=extra`,
      `${one}.extraVolumes[0].secret.secretName=${one}`,
      `${one}.extraVolumeMounts[0].name=extra`,
      `${one}.extraVolumeMounts[0].mountPath=/etc/${one}`,
    ]);
    const objects = await renderChart({ helm, values: [exampleValues().get('minimal')!], set });
    for (const one of components) {
      const name = `slipway-${one === 'migrations' ? 'migrate' : one}`;
      const { spec } = podsOf(objects).find(({ of }) => of.metadata.name === name)!;
      const [container] = spec.containers;
      expect(container!.env).toContainEqual({ name: 'EXTRA', value: one });
      expect(container!.volumeMounts).toContainEqual({ name: 'extra', mountPath: `/etc/${one}` });
      expect(spec.volumes).toContainEqual({ name: 'extra', secret: { secretName: one } });
    }
  });

  it('renders the migration as the first object, and it uses nothing that is created later', () => {
    for (const [name] of EXAMPLES) {
      const job = found(rendered.get(name)!, 'Job', 'slipway-migrate');
      expect(job.metadata.annotations).toMatchObject({
        // The Postgres for trials does not exist before the first install.
        'helm.sh/hook': name === 'default' ? 'pre-upgrade' : 'pre-install,pre-upgrade',
        'helm.sh/hook-delete-policy': 'before-hook-creation,hook-succeeded',
      });
      const [{ spec }] = podsOf([job]) as [ReturnType<typeof podsOf>[number]];
      expect(spec.serviceAccountName).toBeUndefined();
      expect(JSON.stringify(spec)).not.toContain('slipway-config');
      expect(spec.containers[0]!['command']).toEqual(['node', 'apps/api/dist/migrate.js']);
    }
  });

  it('renders Roles, quotas and policies in each namespace of models, for the accounts of this release', () => {
    const objects = rendered.get('multi-tenant')!;
    const spaces = (kind: string): string[] =>
      objects.filter((one) => one.kind === kind && one.metadata.namespace).map((one) => one.metadata.namespace!);
    expect([...new Set(spaces('Role'))].sort()).toEqual(['models-acme', 'models-globex', 'slipway-models']);
    expect(spaces('ResourceQuota').sort()).toEqual(['models-acme', 'models-globex']);
    expect(spaces('NetworkPolicy').sort()).toEqual(['models-acme', 'models-globex', 'slipway-models']);
    for (const binding of objects.filter(({ kind }) => kind === 'RoleBinding') as any[]) {
      const [subject] = binding.subjects;
      expect(found(objects, 'ServiceAccount', subject.name)).toBeDefined();
      expect([subject.namespace, binding.roleRef.name]).toEqual(['slipway', binding.metadata.name]);
    }
    expect(objects.filter(({ kind }) => kind.startsWith('Cluster'))).toEqual([]);
  });

  it('renders the rights for groups of pods and InferencePools only if the values enable them', async () => {
    const of = async (...set: string[]): Promise<[policies: KubeObject[], rights: string]> => {
      const objects = await renderChart({ helm, values: [exampleValues().get('multi-tenant')!], set });
      const roles = objects.filter(({ kind }) => kind === 'Role');
      const policies = objects.filter(
        ({ kind, metadata }) => kind === 'NetworkPolicy' && /-groups$/.test(metadata.name),
      );
      return [policies, JSON.stringify(roles)];
    };
    const [none, without] = await of();
    expect([none, without.includes('leaderworkersets')]).toEqual([[], false]);
    expect(without).not.toContain('inferencepools');
    expect((await of('targets.usesInferencePools=true'))[1]).toContain('inferencepools');
    const [policies, rights] = await of('targets.usesGroups=true');
    expect(rights).toContain('leaderworkersets');
    const spaces = policies.map(({ metadata }) => metadata.namespace);
    expect(spaces.sort()).toEqual(['models-acme', 'models-globex', 'slipway-models']);
    const { podSelector, ingress, egress } = policies[0]!['spec'] as any;
    expect([ingress, egress]).toEqual([[{ from: [{ podSelector }] }], [{ to: [{ podSelector }] }]]);
    expect(podSelector.matchExpressions).toEqual([{ key: 'leaderworkerset.sigs.k8s.io/name', operator: 'Exists' }]);
  });

  it('refuses values without a store, without time to drain or without a Role in a namespace, and an old cluster', async () => {
    const values = [exampleValues().get('minimal')!];
    const wrong = async (...set: string[]): Promise<string> =>
      renderChart({ helm, values, set }).then(
        () => 'rendered',
        (error: Error) => error.message,
      );
    expect(await wrong('api.replicas=2')).toContain('workspace.store');
    for (const set of ['gateway.preStopSeconds=60', 'gateway.drainSeconds=620'])
      expect(await wrong(set)).toContain('gateway.gracePeriodSeconds must be at least');
    for (const name of ['DATABASE_URL', 'HTTPS_PROXY'])
      expect(await wrong(`api.extraEnv[0].name=${name}`, 'api.extraEnv[0].value=x')).toContain(`extraEnv sets ${name}`);
    expect(await wrong('secretKey.existingSecret=', 'secretKey.oldKey=old')).toContain('secretKey.oldKey requires');
    expect(await wrong('database.existingSecret=', 'networkPolicy.database.port=6432')).toContain('listens on 5432');
    expect(await wrong('queue.backend=redis')).toContain('queue.backend redis requires queue.existingSecret');
    expect(await wrong('gateway.ingress.enabled=true')).toContain(
      'gateway.ingress.enabled requires gateway.ingress.host',
    );
    const target = ['name=gpu', 'kind=kubernetes', 'cluster=in-cluster', 'namespaces.default=models-x'];
    expect(await wrong(...target.map((one) => `config.targets[0].${one}`))).toContain('models-x');
    expect(await wrong('replicaCount=1')).toContain('replicaCount');
    await expect(renderChart({ helm, values, kubeVersion: '1.29.4' })).rejects.toThrow('kubeVersion');
  });

  it('renders the images that Chart.yaml lists', () => {
    const { annotations } = readYaml(path.join(CHART, 'Chart.yaml')) as { annotations: Record<string, string> };
    const listed = objectsOf(annotations['artifacthub.io/images']!)[0] as unknown as { image: string }[];
    const images = podsOf(rendered.get('default')!).flatMap(({ spec }) => containersOf(spec).map(({ image }) => image));
    expect(listed.map(({ image }) => image).sort()).toEqual([...new Set(images)].sort());
    const [pinned] = podsOf(rendered.get('ha')!)
      .filter(({ of }) => of.metadata.name === 'slipway-api')
      .map(({ spec }) => spec.containers[0]!.image);
    expect(pinned).toBe(`registry.example.com/slipway/slipway-api@sha256:${'1'.repeat(64)}`);
  });
});

describe('deploy/kubernetes', () => {
  it('has values for a trial, whose only engine is allowed to run there', async () => {
    const objects = await renderChart({ helm, values: [path.join(RAW, 'trial-values.yaml')] });
    expect(found(objects, 'Role', 'slipway-slipway-worker').metadata.namespace).toBe('slipway-models');
    const made = objectsOf(readFileSync(path.join(RAW, 'namespaces.yaml'), 'utf8'));
    expect(made.map(({ metadata }) => metadata.name)).toEqual(['slipway', 'slipway-models']);
  });

  it('contains exactly what the chart renders with the values for production', async () => {
    const objects = rendered.get('production')!;
    const files = rawManifests(objects, 'slipway');
    for (const [name, text] of files) {
      const committed = objectsOf(readFileSync(path.join(RAW, name), 'utf8'));
      expect([name, committed]).toEqual([name, objectsOf(text)]);
      expect(JSON.stringify(committed)).not.toContain('helm.sh');
    }
    expect(files.get('migrate.yaml')).toContain('kind: Job');
  });
});
