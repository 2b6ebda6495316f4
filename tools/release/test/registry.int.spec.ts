import { execFile, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { freePort } from '@slipway/platform-database/testing';
import { parse } from 'yaml';

jest.setTimeout(300_000);

const ROOT = path.resolve(import.meta.dirname, '../../..');
const { version } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as { version: string };
const HELM = process.env['SLIPWAY_KUBE_BIN'] && path.join(process.env['SLIPWAY_KUBE_BIN'], 'helm');
const isHere = (program: string): boolean => spawnSync(program, ['--version']).error === undefined;
const HAS_REGISTRY = isHere('docker-registry');
const HAS_IMAGES = HAS_REGISTRY && isHere('buildah') && process.getuid?.() === 0;
const APPS = ['api', 'worker', 'gateway'];

/** Needs Debian's `docker-registry`, and root for `buildah`; `.ci/nightly` installs both. */
(HAS_REGISTRY ? describe : describe.skip)('a registry on this machine', () => {
  let folder: string;
  let registry: ChildProcess;
  let host: string;

  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'slipway-registry-'));
    host = `127.0.0.1:${await freePort()}`;
    const settings = {
      version: 0.1,
      log: { level: 'error', accesslog: { disabled: true } },
      storage: { filesystem: { rootdirectory: path.join(folder, 'registry') } },
      http: { addr: host },
    };
    // JSON is YAML too.
    writeFileSync(path.join(folder, 'registry.yml'), JSON.stringify(settings));
    registry = spawn('docker-registry', ['serve', path.join(folder, 'registry.yml')], { stdio: 'ignore' });
    const deadline = Date.now() + 60_000;
    while (!(await fetch(`http://${host}/v2/`).catch(() => undefined))?.ok) {
      if (registry.exitCode !== null || Date.now() > deadline) throw new Error('docker-registry does not answer');
      await delay(50);
    }
  });
  afterAll(async () => {
    const gone = new Promise((resolve) => registry.once('exit', resolve));
    registry.kill();
    await gone;
    rmSync(folder, { recursive: true, force: true });
  });

  const run = async (program: string, ...args: string[]): Promise<string> =>
    (await promisify(execFile)(program, args, { cwd: folder, maxBuffer: 16 << 20 })).stdout.trim();

  (HAS_IMAGES ? describe : describe.skip)('and images', () => {
    /** A storage of its own in place of the machine's, as of another host. */
    const buildah = (storage: string, ...args: string[]): Promise<string> => {
      const at = (name: string) => path.join(folder, storage, name);
      return run('buildah', '--root', at('root'), '--runroot', at('run'), '--storage-driver', 'vfs', ...args);
    };
    const nameOf = (app: string): string => `${host}/slipway/slipway-${app}:${version}`;
    const digests = new Map<string, string>();

    beforeAll(async () => {
      for (const app of APPS) {
        // The content is of no interest to a registry: other tests build the real images.
        const content = path.join(folder, `content-${app}`);
        await mkdir(content);
        writeFileSync(path.join(content, 'app'), app.repeat(100_000));
        const container = await buildah('built', 'from', 'scratch');
        await buildah('built', 'copy', container, content, '/app');
        await buildah('built', 'config', '--user', '1000:1000', '--entrypoint', '["/app/app"]', container);
        await buildah('built', 'commit', '--format', 'docker', '--rm', container, nameOf(app));
        const digestFile = path.join(folder, `${app}.digest`);
        const push = ['push', '--tls-verify=false', '--format', 'v2s2', '--digestfile', digestFile];
        await buildah('built', ...push, nameOf(app), `docker://${nameOf(app)}`);
        digests.set(app, readFileSync(digestFile, 'utf8').trim());
      }
    });

    it('serves what was pushed, and another host pulls it by its digest', async () => {
      for (const app of APPS) {
        const pinned = `${nameOf(app).replace(/:[^:]*$/, '')}@${digests.get(app)}`;
        const id = await buildah('pulled', 'pull', '--quiet', '--tls-verify=false', `docker://${pinned}`);
        const [image] = JSON.parse(await buildah('pulled', 'images', '--json', '--no-trunc', id)) as [{ id: string }];
        const [built] = JSON.parse(await buildah('built', 'images', '--json', '--no-trunc', nameOf(app))) as [
          { id: string },
        ];
        expect(image.id).toBe(built.id);
        const container = await buildah('pulled', 'from', '--pull-never', id);
        const mounted = await buildah('pulled', 'mount', container);
        expect(readFileSync(path.join(mounted, 'app/app'), 'utf8')).toBe(app.repeat(100_000));
      }
    });

    it('has the digests that pin-images writes', async () => {
      const services = APPS.flatMap((app) => ['--service', `${app}=${nameOf(app)}`]);
      const override = await run(process.execPath, path.join(ROOT, 'tools/release/pin-images.mjs'), ...services);
      const { services: written } = parse(override, { customTags: [{ tag: '!reset', resolve: () => null }] }) as {
        services: Record<string, { image: string }>;
      };
      for (const app of APPS) expect(written[app]!.image).toBe(`${nameOf(app)}@${digests.get(app)}`);
    });

    it('cannot make a host take other content for that digest', async () => {
      const manifest = await (
        await fetch(`http://${host}/v2/slipway/slipway-api/manifests/${digests.get('api')}`, {
          headers: { accept: 'application/vnd.docker.distribution.manifest.v2+json' },
        })
      ).text();
      const blobs = path.join(folder, 'registry/docker/registry/v2/blobs/sha256');
      const [layer] = (JSON.parse(manifest) as { layers: [{ digest: string }] }).layers;
      const hash = layer.digest.replace('sha256:', '');
      const stored = path.join(blobs, hash.slice(0, 2), hash, 'data');
      expect(existsSync(stored)).toBe(true);
      const before = readFileSync(stored);
      writeFileSync(stored, Buffer.concat([before.subarray(0, -1), Buffer.from([before.at(-1)! ^ 1])]));
      const pull = buildah(
        'deceived',
        'pull',
        '--tls-verify=false',
        `docker://${host}/slipway/slipway-api@${digests.get('api')}`,
      );
      await expect(pull).rejects.toThrow();
      writeFileSync(stored, before);
    });
  });

  (HELM ? it : it.skip)('serves the chart, which helm pulls and renders from there', async () => {
    const release = path.join(folder, 'release');
    const artifacts = [path.join(ROOT, 'tools/release/artifacts.mjs'), release, 'chart'];
    const [, sum, name] = /^(\w{64}) {2}(\S+)$/m.exec(await run(process.execPath, ...artifacts)) ?? [];
    expect(name).toBe(`slipway-${version}.tgz`);
    await run(HELM!, 'push', path.join(release, name!), `oci://${host}/charts`, '--plain-http');
    const chart = [`oci://${host}/charts/slipway`, '--version', version, '--plain-http'];
    const pulled = path.join(folder, 'pulled-chart');
    await mkdir(pulled);
    await run(HELM!, 'pull', ...chart, '--destination', pulled);
    const bytes = readFileSync(path.join(pulled, name!));
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(sum);
    const values = [
      '--set',
      `image.registry=${host}/slipway`,
      '-f',
      path.join(ROOT, 'deploy/helm/slipway/ci/minimal-values.yaml'),
    ];
    const rendered = await run(HELM!, 'template', 'slipway', ...chart, ...values);
    expect(rendered).toContain(`image: ${host}/slipway/slipway-api:${version}\n`);
  });
});
