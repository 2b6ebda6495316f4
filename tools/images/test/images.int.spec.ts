import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import {
  builder,
  buildImages,
  FreshStorage,
  layersOf,
  missing,
  takeMachine,
  TARGETS,
  type MountedImage,
} from './builder.js';
import { Container, FEATURES, type Feature } from './container.js';
import { Network } from './network.js';

jest.setTimeout(60 * 60_000);

const MAX_BYTES = { api: 120e6, worker: 120e6, gateway: 40e6 };

const absent = missing('buildah', 'debootstrap');
const describeImages = absent.length === 0 ? describe : describe.skip;

describeImages('the images', () => {
  const images = new Map<string, MountedImage>();
  let network: Network;
  let member: { network: string };
  const containers: Container[] = [];

  let release: () => void;

  beforeAll(async () => {
    release = await takeMachine();
    buildImages();
    for (const target of TARGETS) images.set(target, builder.unpack(target));
    network = new Network('slwimg', '172.31.71');
    member = network.join();
  });
  afterEach(async () => {
    for (const container of containers.splice(0)) await container.stop('SIGKILL');
  });
  afterAll(() => {
    network?.remove();
    for (const { container } of images.values()) builder.remove(container);
    release?.();
  });

  const start = (target: string, options: { command?: string[]; without?: Feature } = {}): Container => {
    const container = Container.start(images.get(target)!, { network: member.network, ...options });
    containers.push(container);
    return container;
  };

  it.each(TARGETS)(
    '%s holds its bundle, a list of its components, licences and labels, and no build tools',
    (target) => {
      const { root, config } = images.get(target)!;
      const app = path.join(root, 'app');
      const bytes = builder.bytesIn(app);
      console.log(`${target}: ${(bytes / 1e6).toFixed(1)} MB of application`);
      expect(bytes).toBeLessThan(MAX_BYTES[target]);
      for (const file of ['LICENSE', 'THIRD-PARTY-LICENSES.txt', 'sbom.cdx.json', `apps/${target}/dist/main.js`])
        expect([file, existsSync(path.join(app, file))]).toEqual([file, true]);
      for (const file of ['node_modules/typescript', 'node_modules/esbuild', 'node_modules/.bin', 'libs', 'tools'])
        expect([file, existsSync(path.join(app, file))]).toEqual([file, false]);
      const sbom = JSON.parse(readFileSync(path.join(app, 'sbom.cdx.json'), 'utf8')) as { components: object[] };
      expect(sbom.components.length).toBeGreaterThan(20);
      expect(config.Labels).toMatchObject({
        'org.opencontainers.image.title': `slipway-${target}`,
        'org.opencontainers.image.licenses': 'Apache-2.0',
      });
      expect(config).toMatchObject({ User: '1000:1000', WorkingDir: '/app' });
      expect(config.Healthcheck?.Test).toEqual(['CMD', 'node', '-e', expect.stringContaining('/healthz')]);
    },
  );

  it('a second build on the same base, which takes no layer of the first, has equal layers', () => {
    const storage = new FreshStorage();
    try {
      buildImages(storage.env);
      const layers = TARGETS.map((target) => layersOf(target, storage.env));
      expect(layers).toEqual(TARGETS.map((target) => layersOf(target)));
      console.log(TARGETS.map((target, index) => `${target}: ${layers[index]!.at(-1)}`).join('\n'));
    } finally {
      storage.remove();
    }
  });

  /** The differences if the launcher gives a container less than the image and the Compose file say. */
  const probes: Record<Feature, (container: Container) => boolean | Promise<boolean>> = {
    user: (container) => container.status('Uid') === '1000\t1000\t1000\t1000',
    environment: (container) => container.environment.includes('NODE_ENV=production'),
    'read-only root': async (container) => (await container.run(['touch', '/app/written'])) !== 0,
    'no capabilities': (container) =>
      ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb'].every((name) => container.status(name) === '0'.repeat(16)) &&
      container.status('NoNewPrivs') === '1',
    'own network': (container) => container.namespace('net') !== processNamespace(),
    'own root': (container) => container.seesAsRoot('/app/package.json'),
  };

  it.each(FEATURES)('the launcher gives a container its %s, and the probe of it fails without', async (feature) => {
    const command = ['sleep', '600'];
    const whole = start('gateway', { command });
    await whole.started();
    expect(whole.commandLine).toEqual(command);
    expect(await probes[feature](whole)).toBe(true);
    const lacking = start('gateway', { command, without: feature });
    await lacking.started();
    expect(await probes[feature](lacking)).toBe(false);
  });

  it('the launcher runs the health check of the image: nothing listens in a container that sleeps', async () => {
    const asleep = start('gateway', { command: ['sleep', '600'] });
    await asleep.started();
    expect(await asleep.isHealthy()).toBe(false);
  });
});

function processNamespace(): string {
  return spawnSync('readlink', ['/proc/self/ns/net'], { encoding: 'utf8' }).stdout.trim();
}

// A name for the report if the suite cannot run.
if (absent.length > 0) it.skip(`images are built and started (missing: ${absent.join(', ')})`, () => {});
