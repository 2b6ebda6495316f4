import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { withinTime } from '@slipway/contracts';
import { request } from 'undici';
import { kubeconfigOf, writeAccess, type ClusterAccess } from './access.js';
import { KubeClient } from './client.js';
import { Component } from './component.js';
import {
  apiServerArgs,
  auditPolicy,
  controllerManagerArgs,
  etcdArgs,
  filesOf,
  schedulerArgs,
  schedulerConfig,
  type ControlPlaneOptions,
  type Layout,
} from './component-arguments.js';
import { guard } from './guard.js';
import { SERVICE_ACCOUNTS } from './objects.js';
import { freePorts } from './ports.js';
import { eventually, HopelessError } from './waiting.js';

const READY_MS = 120_000;
const CALL_MS = 5_000;
/** Another process may take a free port before it is used. */
const TRIES = 3;

/**
 * A real control plane on free ports of loopback: etcd, kube-apiserver, kube-controller-manager and kube-scheduler,
 * with RBAC, without kubelets. It ends when this process ends, however that happens.
 */
export class ControlPlane {
  private readonly running = new Map<string, Component>();
  private readonly token = randomBytes(24).toString('hex');
  private opened?: ClusterAccess;

  private constructor(
    private readonly options: ControlPlaneOptions,
    private readonly layout: Layout,
  ) {}

  /** @throws Error with the last output of the program that did not start */
  static async start(options: ControlPlaneOptions): Promise<ControlPlane> {
    for (let tried = 1; ; tried += 1) {
      const folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-test-kube-'));
      guard.sweep(folder);
      const [etcd, etcdPeer, api] = (await freePorts(3)) as [number, number, number];
      const plane = new ControlPlane(options, { folder, etcd, etcdPeer, api });
      try {
        plane.prepare();
        await plane.startAll();
        return plane;
      } catch (error) {
        const said = plane.describe();
        await plane.stop();
        if (tried >= TRIES || !said.includes('address already in use'))
          throw new Error(`the control plane does not start: ${(error as Error).message}\n${said}`, { cause: error });
      }
    }
  }

  /** Folder of its files and logs; removed by `stop`. */
  get folder(): string {
    return this.layout.folder;
  }

  get access(): ClusterAccess {
    if (!this.opened) throw new Error('the control plane is not started');
    return this.opened;
  }

  /** A client with the rights of an administrator; the caller closes it. */
  client(): KubeClient {
    return new KubeClient(this.access, this.access.token);
  }

  /** From now on, the API server accepts connections but does not answer. */
  pause(): void {
    this.component('kube-apiserver').signal('SIGSTOP');
  }

  resume(): void {
    this.component('kube-apiserver').signal('SIGCONT');
  }

  /** Like the crash of a machine: connections are not closed in order. */
  async killApiServer(): Promise<void> {
    await this.component('kube-apiserver').kill();
  }

  /** Starts the API server again after `killApiServer`, on the same port, with the data in etcd. */
  async startApiServer(): Promise<void> {
    this.run('kube-apiserver', apiServerArgs(this.layout, this.options));
    await this.untilServed();
  }

  /** Restarts all parts. With `emptied`, all data is gone, but what the API server signed before remains valid. */
  async restart(etcd: 'kept' | 'emptied'): Promise<void> {
    await this.endAll();
    if (etcd === 'emptied') rmSync(filesOf(this.folder).data, { recursive: true, force: true });
    await this.startAll();
  }

  /** Removes all old versions, so that a watch from an old version gets 410. Reliable only without a watch cache. */
  async compact(): Promise<void> {
    const { header } = (await this.etcd('/v3/kv/range', { key: 'AA==', limit: '1' })) as {
      header: { revision: string };
    };
    await this.etcd('/v3/kv/compaction', { revision: header.revision, physical: true });
  }

  /** The last output of each part, for the message of a failure. */
  describe(): string {
    return [...this.running.values()]
      .map((one) => `--- ${one.name}${one.isRunning ? '' : ' (ended)'}\n${one.tail()}`)
      .join('\n');
  }

  async stop(): Promise<void> {
    await this.endAll();
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  }

  private prepare(): void {
    const files = filesOf(this.folder);
    mkdirSync(files.certificates, { mode: 0o700 });
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const secretly = { mode: 0o600 };
    writeFileSync(files.signingKey, privateKey.export({ type: 'pkcs1', format: 'pem' }), secretly);
    writeFileSync(files.verifyingKey, publicKey.export({ type: 'spki', format: 'pem' }), secretly);
    writeFileSync(files.tokens, `${this.token},admin,admin,"system:masters"\n`, secretly);
    writeFileSync(files.scheduler, JSON.stringify(schedulerConfig(this.layout)), secretly);
    writeFileSync(files.auditPolicy, JSON.stringify(auditPolicy()), secretly);
  }

  private async startAll(): Promise<void> {
    this.run('etcd', etcdArgs(this.layout));
    await this.until('etcd is healthy', async () => {
      return await withinTime(CALL_MS, undefined, async (signal) => {
        const answer = await request(this.etcdUrl('/readyz'), { signal });
        await answer.body.dump();
        return answer.statusCode === 200;
      });
    });
    this.run('kube-apiserver', apiServerArgs(this.layout, this.options));
    await this.untilServed();
    this.run('kube-controller-manager', controllerManagerArgs(this.layout, this.options));
    this.run('kube-scheduler', schedulerArgs(this.layout));
    const client = this.client();
    try {
      const where = { namespace: 'default', name: 'default' };
      await this.until('the controllers work', () => client.find(SERVICE_ACCOUNTS, where));
    } finally {
      await client.close();
    }
  }

  private async untilServed(): Promise<void> {
    const { cert } = filesOf(this.folder);
    await this.until('the API server has its certificate', () => existsSync(cert) && readFileSync(cert).length > 0);
    this.opened = this.accessNow();
    const client = this.client();
    try {
      await this.until('the API server is ready', async () => (await client.raw('GET', '/readyz')) === 'ok');
    } finally {
      await client.close();
    }
  }

  private accessNow(): ClusterAccess {
    const files = filesOf(this.folder);
    const server = `https://127.0.0.1:${this.layout.api}`;
    const ca = readFileSync(files.cert, 'utf8');
    const access: ClusterAccess = {
      server,
      ca,
      token: this.token,
      kubeconfig: files.kubeconfig,
      tls: { cert: files.cert, key: files.key },
      bin: this.options.bin,
    };
    writeFileSync(files.kubeconfig, kubeconfigOf(access), { mode: 0o600 });
    writeAccess(this.folder, access);
    return access;
  }

  private run(name: string, args: string[]): void {
    this.running.set(name, new Component(name, path.join(this.options.bin, name), args, this.folder));
  }

  private component(name: string): Component {
    const found = this.running.get(name);
    if (!found) throw new Error(`${name} was never started`);
    return found;
  }

  /** Polls, and throws before the time limit if a part has ended. */
  private until(what: string, look: () => unknown): Promise<unknown> {
    return eventually<unknown>(
      what,
      async () => {
        const over = [...this.running.values()].find((one) => !one.isRunning);
        if (over) throw new HopelessError(`${over.name} has ended: ${await over.ended}`);
        return (await look()) || undefined;
      },
      READY_MS,
    );
  }

  /** Kills the parts without an orderly stop: all data that matters is in files, which survive a process. */
  private async endAll(): Promise<void> {
    await Promise.all([...this.running.values()].map((one) => one.kill()));
    this.running.clear();
  }

  private etcdUrl(at: string): string {
    return `http://127.0.0.1:${this.layout.etcd}${at}`;
  }

  private async etcd(at: string, body: object): Promise<unknown> {
    return await withinTime(CALL_MS, undefined, async (signal) => {
      const answer = await request(this.etcdUrl(at), { method: 'POST', body: JSON.stringify(body), signal });
      const text = await answer.body.text();
      if (answer.statusCode !== 200)
        throw new Error(`etcd answers ${answer.statusCode} to ${at}: ${text.slice(0, 500)}`);
      return JSON.parse(text) as unknown;
    });
  }
}
