import { createServer, type Server } from 'node:http';
import { rename, rm, symlink, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { RevisionSpec } from '@slipway/contracts';
import { KeyRing, type OperatorConfig } from '@slipway/platform-config';
import { ReadAudit } from '@slipway/platform-durable/mutations';
import { Logger } from '@nestjs/common';
import { backendContext, openPublished } from '@slipway/dataplane';
import { TargetBed, until, workloadOf, type InstancesProcess } from '../../test/target-bed.js';

describe('a secret in a cluster', () => {
  const OPERATOR = 'ten_a';
  /** The tenant `acme`. */
  const ACME = 'ten_b';

  let bed: TargetBed;

  beforeEach(async () => {
    bed = await TargetBed.create(4, { withTwin: true });
  });
  afterEach(() => bed.dispose());

  /** Adds the secret `hf`, which is in a cluster. The value of `key` is in a file. */
  function withSecrets(use: { tenants?: string[] } = {}): { operator: OperatorConfig } {
    const { operator } = bed.config;
    const hf = { kubernetes: { name: 'hf', key: 'token' }, ...use };
    return { operator: { ...operator, secrets: { ...operator.secrets, hf } } };
  }

  const naming = (secret_ref: string, target = 'twin'): RevisionSpec => {
    const engine = target === 'twin' ? 'sim' : 'mini';
    return bed.twinSpec({ runtime: { target, engine, args: {}, env: { API_KEY: { secret_ref } } } });
  };

  describe('a spec that names a secret of a cluster', () => {
    /** By the permitted use of the secret with which each was started. */
    const apis = new Map<string, Promise<InstancesProcess>>();
    beforeEach(() => apis.clear());
    const issuesOf = async (spec: RevisionSpec, tenantId = OPERATOR, use = {}) => {
      const started = JSON.stringify(use);
      const api = apis.get(started) ?? bed.process('api', withSecrets(use));
      apis.set(started, api);
      return (await (await api).check(spec, tenantId)).map(
        ({ field, code, message }) => `${field} ${code}: ${message}`,
      );
    };
    const NOT_THERE =
      /^runtime\.env\.API_KEY not_allowed: secret "hf" refers to a Kubernetes Secret, which this target cannot read/;
    const BY_REFERENCE =
      /^runtime\.env\.API_KEY not_allowed: this target accepts only secrets in Kubernetes: the operator must declare "key"/;

    it('is accepted if the target can read the secret, and refused if it cannot', async () => {
      expect(await issuesOf(naming('hf'))).toEqual([]);
      expect(await issuesOf(naming('hf', 'local'))).toEqual([expect.stringMatching(NOT_THERE)]);
      bed.cluster.secrets = 'resolved';
      expect(await issuesOf(naming('hf'))).toEqual([expect.stringMatching(NOT_THERE)]);
      bed.cluster.secrets = undefined;
      expect(await issuesOf(naming('hf'))).toEqual([expect.stringMatching(NOT_THERE)]);
      bed.cluster.secrets = 'references';
      expect(await issuesOf(naming('hf'))).toEqual([]);
    });

    it('is required by a target that accepts only references', async () => {
      expect(await issuesOf(naming('key'))).toEqual([]);
      bed.cluster.secrets = 'references';
      expect(await issuesOf(naming('key'))).toEqual([expect.stringMatching(BY_REFERENCE)]);
    });

    it('may use it only for the tenants that the secret names, as with any other secret', async () => {
      const unknown = `runtime.env.API_KEY unknown: the operator's configuration has no secret "hf"`;
      for (const target of ['twin', 'local']) expect(await issuesOf(naming('hf', target), ACME)).toEqual([unknown]);
      expect(await issuesOf(naming('hf'), ACME, { tenants: ['acme'] })).toEqual([]);
      expect(await issuesOf(naming('hf'), OPERATOR, { tenants: ['acme'] })).toEqual([unknown]);
    });

    it('cannot have it sent to a server', async () => {
      const spec = bed.spec(
        {},
        {
          runtime: { target: 'adopted', args: {}, env: {} },
          endpoint: {
            base_url: 'http://127.0.0.1:9',
            protocol: 'openai',
            health_path: '/health',
            credential_ref: 'hf',
          },
        },
      );
      expect(await issuesOf(spec)).toEqual([
        'endpoint.credential_ref not_allowed: secret "hf" may not be sent to this address',
      ]);
    });
  });

  describe('an engine that needs a secret of a cluster', () => {
    const MIXED = { PLAIN: 'x', API_KEY: { secret_ref: 'key' }, HF_TOKEN: { secret_ref: 'hf' } };
    const spec = (env: RevisionSpec['runtime']['env']): RevisionSpec =>
      bed.twinSpec({ runtime: { target: 'twin', engine: 'sim', args: {}, env } });
    const message = async (worker: InstancesProcess) => (await worker.rows('rev_1'))[0]?.message;

    it('gets a reference to it next to the values of other secrets, and the audit lists both', async () => {
      const worker = await bed.process('worker', withSecrets());
      bed.cluster.setHealthy(true);
      await worker.want('rev_1', spec(MIXED));
      const [{ id } = { id: '' }] = await worker.ready('rev_1');
      expect(bed.cluster.members.get(id)?.[0]?.spec.runtime).toEqual({
        engine: 'sim',
        args: {},
        env: { PLAIN: 'x', API_KEY: 'sk-from-file' },
        envRefs: { HF_TOKEN: { secret: 'hf', key: 'token' } },
      });
      await worker.context.get(ReadAudit, { strict: false }).flush();
      const used = await worker.database.read<{ name: string }>(
        'system',
        `select distinct resource_name as name from audit_log where action = 'secret.used' order by 1`,
      );
      expect(used.map(({ name }) => name)).toEqual(['hf', 'key']);
    });

    it('has no references if it names no such secret', async () => {
      const worker = await bed.process('worker', withSecrets());
      bed.cluster.setHealthy(true);
      await worker.want('rev_1', spec({ PLAIN: 'x' }));
      const [{ id } = { id: '' }] = await worker.ready('rev_1');
      expect(bed.cluster.members.get(id)?.[0]?.spec.runtime).not.toHaveProperty('envRefs');
    });

    it.each([
      ['references', 'key', 'it could not be started: this target accepts only secrets in Kubernetes'],
      ['resolved', 'hf', 'it could not be started: secret "hf" refers to a Kubernetes Secret'],
    ] as const)('does not start if the target now accepts only %s', async (taking, name, told) => {
      const worker = await bed.process('worker', withSecrets());
      bed.cluster.secrets = taking;
      await worker.want('rev_1', spec({ API_KEY: { secret_ref: name } }));
      await until(
        'it to be refused',
        async () => Boolean((await message(worker))?.startsWith(told)),
        () => message(worker),
      );
      expect(bed.cluster.started).toEqual([]);
    });

    it('does not start for a tenant that may no longer use the secret', async () => {
      const worker = await bed.process('worker', withSecrets({ tenants: ['default'] }));
      await worker.database.tx('system', (tx) =>
        worker.instances.want(
          tx,
          { ...workloadOf('rev_1', spec({ HF_TOKEN: { secret_ref: 'hf' } })), tenantId: ACME },
          'operation:op_1',
        ),
      );
      // Each retry hides the message for a moment, so the comparison uses one read.
      let shown: string | null | undefined;
      await until('it to be refused', async () => Boolean((shown = await message(worker))));
      expect(shown).toBe(`it could not be started: the operator's configuration has no secret "hf"`);
      expect(bed.cluster.started).toEqual([]);
    });
  });
});

describe('a secret in a file', () => {
  let bed: TargetBed;
  let server: Server;

  beforeEach(async () => {
    bed = await TargetBed.create();
    server = createServer((_request, response) => void response.end('{"choices":[]}')).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
  });
  afterEach(async () => {
    server.closeAllConnections();
    server.close();
    await bed.dispose();
  });

  async function published(process: InstancesProcess, keyRing = bed.config.keyRing): Promise<string | undefined> {
    const sealed = (await process.published('rev_1'))[0]?.credential;
    return sealed ? openPublished(keyRing, sealed, backendContext('ten_a', 'rev_1')) : undefined;
  }

  const becomes = (value: string, process: InstancesProcess): Promise<void> =>
    until(
      `the credential ${value}`,
      async () => (await published(process)) === value,
      () => published(process),
    );

  async function adopt(worker: InstancesProcess): Promise<void> {
    const base_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const endpoint = { base_url, protocol: 'openai', health_path: '/health', credential_ref: 'key' } as const;
    await worker.want('rev_1', bed.spec({}, { runtime: { target: 'adopted', args: {}, env: {} }, endpoint }));
    await worker.ready('rev_1');
  }

  /**
   * Replaces the file as Kubernetes does for a new version of a mounted secret: it replaces a link and writes to no
   * existing file.
   */
  async function mount(version: string): Promise<void> {
    await writeFile(join(bed.home, version), `${version}\n`);
    await symlink(version, join(bed.home, 'key.next'));
    await rename(join(bed.home, 'key.next'), join(bed.home, 'key'));
  }

  it('a secret whose file was replaced is published again, without any change of readiness', async () => {
    const worker = await bed.process('worker');
    await adopt(worker);
    expect(await published(worker)).toBe('sk-from-file');
    const before = await worker.rows('rev_1');
    for (const version of ['sk-second', 'sk-third']) {
      await mount(version);
      await becomes(version, worker);
    }
    // Overwritten without a new link, as an editor does it.
    await writeFile(join(bed.home, 'sk-third'), 'sk-fourth\n');
    await becomes('sk-fourth', worker);
    expect(await worker.rows('rev_1')).toEqual(before);
  });

  it('a leader that died before it published leaves nothing that needs manual input', async () => {
    const first = await bed.process('worker');
    await adopt(first);
    await first.close();
    await mount('sk-meanwhile');
    expect(await published(await bed.process('api'))).toBe('sk-from-file');
    const second = await bed.process('worker');
    await becomes('sk-meanwhile', second);
  });

  it('if the file of a secret is missing, gateways keep their credential until it is back', async () => {
    const worker = await bed.process('worker');
    await adopt(worker);
    const warned = jest.spyOn(Logger.prototype, 'warn');
    await rm(join(bed.home, 'key'));
    const isNoticed = async (): Promise<boolean> =>
      warned.mock.calls.some(([said]) => String(said).includes('secret key'));
    await until('the loss to be noticed', isNoticed);
    expect(await published(worker)).toBe('sk-from-file');
    await mount('sk-back');
    await becomes('sk-back', worker);
  });

  it('a credential that was sealed with a lost key is published again under the current one', async () => {
    const first = await bed.process('worker');
    await adopt(first);
    await first.close();
    const keyRing = new KeyRing(Buffer.alloc(32, 1));
    const second = await bed.process('worker', { keyRing });
    const isCurrent = async (): Promise<boolean> =>
      (await second.published('rev_1'))[0]?.credential?.startsWith(`v2.${keyRing.current.id}.`) === true;
    await until('the credential to be under the current key', isCurrent);
    expect(await published(second, keyRing)).toBe('sk-from-file');
  });
});
