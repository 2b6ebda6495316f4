import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { startStubApi, type StubApi } from '../../test/stub-api/index.js';
import { readCluster, type KubeCluster } from './cluster.js';
import { KubeConfigError, UnreachableError } from './errors.js';
import { PODS } from './kinds.js';
import { KubeApi } from './requests.js';

let folder: string;
let nowMs: number;
const now = (): number => nowMs;
const file = (name: string, text: string): string => {
  const full = path.join(folder, name);
  mkdirSync(path.dirname(full), { recursive: true });
  writeFileSync(full, text);
  return full;
};

const hasOpenssl = spawnSync('openssl', ['version']).status === 0;
/** Node itself cannot make certificates. */
const certIt = hasOpenssl ? it : it.skip;
/** Self-signed, for 127.0.0.1. */
let pem: { cert: string; key: string };
beforeAll(() => {
  if (!hasOpenssl) return;
  const made = mkdtempSync(path.join(tmpdir(), 'slipway-cert-'));
  const [key, cert] = [path.join(made, 'key'), path.join(made, 'cert')];
  const args = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'];
  const subject = ['-subj', '/CN=stub', '-addext', 'subjectAltName=IP:127.0.0.1,DNS:stub.test'];
  execFileSync('openssl', [...args, ...subject, '-keyout', key, '-out', cert], { stdio: 'pipe' });
  pem = { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') };
  rmSync(made, { recursive: true });
});

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'slipway-kubeconfig-'));
  nowMs = Date.parse('2026-01-01T00:00:00Z');
});
afterEach(() => rmSync(folder, { recursive: true }));

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const SERVER = 'https://10.0.0.1:6443';

interface Parts {
  cluster?: Record<string, unknown>;
  user?: Record<string, unknown>;
  context?: Record<string, unknown>;
}

function kubeconfig({ cluster = { server: SERVER }, user = { token: 'secret' }, context = {} }: Parts = {}): string {
  return file(
    'kubeconfig',
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'prod',
      contexts: [
        { name: 'prod', context: { cluster: 'c', user: 'u', namespace: 'models', ...context } },
        { name: 'lab', context: { cluster: 'lab', user: 'u' } },
      ],
      clusters: [
        { name: 'c', cluster },
        { name: 'lab', cluster: { server: 'https://lab:6443/k8s/clusters/c-1/' } },
      ],
      users: [{ name: 'u', user }],
    }),
  );
}

const read = (parts?: Parts, context?: string): KubeCluster =>
  readCluster({ kubeconfig: kubeconfig(parts), context }, { now });

function refused(run: () => unknown): KubeConfigError {
  try {
    run();
  } catch (error) {
    expect(error).toBeInstanceOf(KubeConfigError);
    return error as KubeConfigError;
  }
  throw new Error('nothing was refused');
}

describe('a kubeconfig', () => {
  it('is read by its current context, or by the named one', async () => {
    const cluster = read();
    expect([cluster.server, cluster.namespace, cluster.tls]).toEqual([SERVER, 'models', { rejectUnauthorized: true }]);
    expect(await cluster.authorization()).toBe('Bearer secret');
    const lab = read({}, 'lab');
    expect([lab.server, lab.namespace]).toEqual(['https://lab:6443/k8s/clusters/c-1', undefined]);
  });

  certIt('may be YAML, with files next to it', async () => {
    file('pki/ca.crt', pem.cert);
    const kubeconfigFile = file(
      'config.yaml',
      `
current-context: x
contexts: [{name: x, context: {cluster: a, user: b}}]
clusters:
  - name: a
    cluster:
      server: ${SERVER}
      certificate-authority: pki/ca.crt
      tls-server-name: stub.test
users:
  - {name: b, user: {tokenFile: token}}
`,
    );
    file('token', 'from-file\n');
    const cluster = readCluster({ kubeconfig: kubeconfigFile });
    expect(cluster.tls).toEqual({ ca: pem.cert, servername: 'stub.test', rejectUnauthorized: true });
    expect(await cluster.authorization()).toBe('Bearer from-file');
  });

  certIt('may contain certificates in base64', async () => {
    const cluster = read({
      cluster: { server: SERVER, 'certificate-authority-data': base64(pem.cert) },
      user: { 'client-certificate-data': base64(pem.cert), 'client-key-data': base64(pem.key) },
    });
    expect(cluster.tls).toEqual({ ca: pem.cert, cert: pem.cert, key: pem.key, rejectUnauthorized: true });
    expect(await cluster.authorization()).toBeUndefined();
    expect(cluster.tls).toBe(cluster.tls);
  });

  it('may disable the check of the server certificate', () => {
    expect(read({ cluster: { server: SERVER, 'insecure-skip-tls-verify': true } }).tls.rejectUnauthorized).toBe(false);
  });

  it.each<[string, Parts, string]>([
    ['http to elsewhere', { cluster: { server: 'http://10.0.0.1:8080' } }, 'must begin with https://'],
    ['no server', { cluster: {} }, '`server` must be the address of an API server'],
    ['a server that is none', { cluster: { server: 'prod' } }, '`server` must be the address of an API server'],
    ['a number as server', { cluster: { server: 7 } }, 'cluster c: `server` must be a string'],
    ['a proxy', { cluster: { server: SERVER, 'proxy-url': 'http://proxy' } }, '`proxy-url` is not supported'],
    [
      'a CA that is no PEM',
      { cluster: { server: SERVER, 'certificate-authority-data': 'xx' } },
      'must be PEM in base64',
    ],
    [
      'a missing CA file',
      { cluster: { server: SERVER, 'certificate-authority': 'no.crt' } },
      'no.crt: cannot be read (ENOENT)',
    ],
    ['half a client certificate', { user: { 'client-key-data': base64('-----BEGIN X') } }, 'must be set together'],
    ['basic authentication', { user: { username: 'me', password: 'x' } }, 'is not supported by API servers since'],
    ['an auth provider', { user: { 'auth-provider': { name: 'gcp' } } }, 'use `exec`'],
    ['impersonation', { user: { token: 'x', as: 'admin' } }, '`as` is not supported'],
    ['a token with a line break', { user: { token: 'a\nb' } }, 'must be visible ASCII'],
    ['a user that is missing', { context: { user: 'nobody' } }, 'has no user "nobody" (it has: u)'],
    ['a cluster that is missing', { context: { cluster: 'z' } }, 'has no cluster "z" (it has: c, lab)'],
    [
      'a plugin that asks a person',
      { user: { exec: plugin({ interactiveMode: 'Always' }) } },
      'interactiveMode: Always',
    ],
    ['a plugin of another version', { user: { exec: plugin({ apiVersion: 'v9' }) } }, 'exec.apiVersion'],
    ['a plugin without a command', { user: { exec: plugin({ command: undefined }) } }, 'has no `command`'],
    ['arguments that are none', { user: { exec: plugin({ args: 'x' }) } }, '`exec.args` must be a list'],
  ])('with %s is refused: the error names the problem, its location and what to do', (_what, parts, message) => {
    expect(refused(() => read(parts)).message).toContain(message);
  });

  it('without the named context names the contexts that it has', () => {
    const error = refused(() => read({}, 'staging'));
    expect(error.file).toBe(path.join(folder, 'kubeconfig'));
    expect(error.message).toContain('has no context "staging" (it has: prod, lab)');
  });

  it('that is missing, a folder, endless or not YAML is reported', () => {
    const kubeconfigFile = path.join(folder, 'none');
    expect(refused(() => readCluster({ kubeconfig: kubeconfigFile })).message).toContain(
      'none: cannot be read (ENOENT)',
    );
    expect(refused(() => readCluster({ kubeconfig: folder })).message).toContain('cannot be read');
    expect(refused(() => readCluster({ kubeconfig: '/dev/zero' })).message).toContain('it is not a file');
    const long = file('long', ' '.repeat(1024 * 1024 + 1));
    expect(refused(() => readCluster({ kubeconfig: long })).message).toContain('longer than 1048576 bytes');
    expect(refused(() => readCluster({ kubeconfig: file('bad', 'a: [') })).message).toContain('is not valid YAML');
    expect(refused(() => readCluster({ kubeconfig: file('list', '[]') })).message).toContain('must be a mapping');
    expect(refused(() => readCluster({ kubeconfig: file('empty', '{}') })).message).toContain('no `current-context`');
  });
});

describe('a kubeconfig that is replaced', () => {
  certIt('is read after a minute, and at once after a 401: token, plugin, certificates', async () => {
    const cluster = read();
    kubeconfig({
      user: { token: 'second' },
      cluster: { server: SERVER, 'certificate-authority-data': base64(pem.cert) },
    });
    expect([await cluster.authorization(), cluster.tls.ca]).toEqual(['Bearer secret', undefined]);
    nowMs += 60_000;
    expect([await cluster.authorization(), cluster.tls.ca]).toEqual(['Bearer second', pem.cert]);
    kubeconfig({ user: { tokenFile: 'token' } });
    file('token', 'third');
    cluster.forget();
    expect([await cluster.authorization(), cluster.tls.ca]).toEqual(['Bearer third', undefined]);
  });

  it('changes nothing while it is broken, and never leads to another server', async () => {
    const cluster = read();
    const { tls } = cluster;
    file('kubeconfig', 'half a file: {');
    nowMs += 60_000;
    expect([await cluster.authorization(), cluster.tls]).toEqual(['Bearer secret', tls]);
    kubeconfig({ cluster: { server: 'https://elsewhere:6443' }, user: { token: 'elsewhere' } });
    cluster.forget();
    expect([await cluster.authorization(), cluster.server]).toEqual(['Bearer secret', SERVER]);
  });
});

describe('a token file', () => {
  it('is read again after a minute, and at once after a 401', async () => {
    file('token', 'one');
    const cluster = read({ user: { tokenFile: 'token' } });
    expect(await cluster.authorization()).toBe('Bearer one');
    file('token', 'two');
    nowMs += 59_000;
    expect(await cluster.authorization()).toBe('Bearer one');
    nowMs += 1_000;
    expect(await cluster.authorization()).toBe('Bearer two');
    file('token', 'three');
    cluster.forget();
    expect(await cluster.authorization()).toBe('Bearer three');
  });

  it('leaves the old token in use while it is empty; without any token it is an error', async () => {
    file('token', 'one');
    const cluster = read({ user: { tokenFile: 'token' } });
    await cluster.authorization();
    file('token', '');
    nowMs += 60_000;
    expect(await cluster.authorization()).toBe('Bearer one');
    rmSync(path.join(folder, 'token'));
    nowMs += 60_000;
    expect(await cluster.authorization()).toBe('Bearer one');
    await expect(read({ user: { tokenFile: 'token' } }).authorization()).rejects.toThrow(KubeConfigError);
  });
});

describe('the credentials of a pod', () => {
  const environment = { KUBERNETES_SERVICE_HOST: '10.250.0.1', KUBERNETES_SERVICE_PORT: '443' };

  certIt('come from its ServiceAccount', async () => {
    file('token', 'sa-token');
    file('ca.crt', pem.cert);
    file('namespace', 'slipway\n');
    const cluster = readCluster('in-cluster', { serviceAccountFolder: folder, environment, now });
    expect([cluster.server, cluster.namespace]).toEqual(['https://10.250.0.1:443', 'slipway']);
    expect(cluster.tls).toEqual({ ca: pem.cert, rejectUnauthorized: true });
    expect(await cluster.authorization()).toBe('Bearer sa-token');
    const six = { ...environment, KUBERNETES_SERVICE_HOST: 'fd00::1' };
    expect(readCluster('in-cluster', { serviceAccountFolder: folder, environment: six }).server).toBe(
      'https://[fd00::1]:443',
    );
  });

  it('include a new CA after a minute, and keep the old one while there is none', () => {
    file('token', 'sa-token');
    file('ca.crt', 'old');
    const cluster = readCluster('in-cluster', { serviceAccountFolder: folder, environment, now });
    const { tls } = cluster;
    file('ca.crt', 'new');
    expect(cluster.tls).toBe(tls);
    nowMs += 60_000;
    expect(cluster.tls.ca).toBe('new');
    rmSync(path.join(folder, 'ca.crt'));
    nowMs += 60_000;
    expect(cluster.tls.ca).toBe('new');
  });

  it('are an error outside of a pod, and in a pod without a token', () => {
    const options = { serviceAccountFolder: folder, environment };
    expect(refused(() => readCluster('in-cluster', { ...options, environment: {} })).message).toContain(
      'name a `kubeconfig`',
    );
    expect(refused(() => readCluster('in-cluster', options)).message).toContain('automountServiceAccountToken: true');
  });
});

function plugin(more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    apiVersion: 'client.authentication.k8s.io/v1',
    command: process.execPath,
    args: ['plugin.mjs'],
    interactiveMode: 'Never',
    ...more,
  };
}

describe('an exec plugin', () => {
  const runs = (): string[] => readFileSync(path.join(folder, 'runs'), 'utf8').trim().split('\n');
  const script = (status: string, after = ''): Record<string, unknown> => {
    file('runs', '');
    const program = file(
      'plugin.mjs',
      `import { appendFileSync } from 'node:fs';
appendFileSync(${JSON.stringify(path.join(folder, 'runs'))}, process.env.WHO + ' ' + process.env.KUBERNETES_EXEC_INFO + '\\n');
const { apiVersion } = JSON.parse(process.env.KUBERNETES_EXEC_INFO);
console.log(JSON.stringify({ kind: 'ExecCredential', apiVersion, status: ${status} }));
${after}`,
    );
    return { exec: plugin({ args: [program], env: [{ name: 'WHO', value: 'me' }] }) };
  };

  it('runs once for all concurrent callers, with its arguments, and again before its token ends', async () => {
    const cluster = read({
      user: script(`{ token: 'run-' + process.pid, expirationTimestamp: '2026-01-01T00:10:00Z' }`),
    });
    const tokens = await Promise.all(Array.from({ length: 5 }, () => cluster.authorization()));
    expect(new Set(tokens).size).toBe(1);
    expect(tokens[0]).toMatch(/^Bearer run-\d+$/);
    expect(runs()).toHaveLength(1);
    expect(runs()[0]).toContain('me {"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1"');
    nowMs += 8 * 60_000;
    expect(await cluster.authorization()).toBe(tokens[0]);
    nowMs += 60_000;
    expect(await cluster.authorization()).not.toBe(tokens[0]);
    expect(runs()).toHaveLength(2);
  });

  it('whose token has no end runs again after a 401, at most every 5 s', async () => {
    const cluster = read({ user: script(`{ token: 'run-' + process.pid }`) });
    const first = await cluster.authorization();
    nowMs += 86_400_000;
    expect(await cluster.authorization()).toBe(first);
    cluster.forget();
    const second = await cluster.authorization();
    expect(second).not.toBe(first);
    cluster.forget();
    expect(await cluster.authorization()).toBe(second);
    expect(runs()).toHaveLength(2);
  });

  it('whose tokens live for seconds does not run for each call', async () => {
    const cluster = read({ user: script(`{ token: 'x', expirationTimestamp: '2026-01-01T00:00:30Z' }`) });
    await cluster.authorization();
    nowMs += 4_000;
    await cluster.authorization();
    expect(runs()).toHaveLength(1);
    nowMs += 2_000;
    await cluster.authorization();
    expect(runs()).toHaveLength(2);
  });

  it('that fails leaves a valid token in use, and does not run in a loop', async () => {
    const cluster = read({ user: script(`{ token: 'good', expirationTimestamp: '2026-01-01T00:10:00Z' }`) });
    await cluster.authorization();
    const failing = file('plugin.mjs', 'console.error("the password is 1234"); process.exit(3);');
    nowMs += 9.5 * 60_000;
    expect(await cluster.authorization()).toBe('Bearer good');
    nowMs += 60_000;
    const error = await cluster.authorization().catch((reason: Error) => reason);
    expect(error).toBeInstanceOf(KubeConfigError);
    expect(String(error)).toContain('failed (3); run it by hand');
    expect(String(error)).not.toContain('1234');
    writeFileSync(failing, 'process.exit(4)');
    await expect(cluster.authorization()).rejects.toThrow('failed (3)');
    nowMs += 5_000;
    await expect(cluster.authorization()).rejects.toThrow('failed (4)');
  });

  it.each([
    ['console.log("hello")', 'did not print JSON'],
    ['console.log("{}")', 'did not print an ExecCredential'],
    [printed({}), 'did not print a token'],
    [printed({ token: 'a b' }), 'did not print a token'],
    [printed({ token: 'x', expirationTimestamp: 'soon' }), 'is not a time'],
    [printed({ token: 'x', expirationTimestamp: '2025-01-01T00:00:00Z' }), 'has expired; check the clocks'],
    [
      'import { writeSync } from "node:fs"; for (;;) writeSync(1, "x".repeat(1000))',
      'ran too long or printed too much',
    ],
  ])('that runs %s is an error', async (program, message) => {
    const cluster = read({ user: { exec: plugin({ args: [file('plugin.mjs', program)] }) } });
    await expect(cluster.authorization()).rejects.toThrow(message);
    cluster.close();
  });

  it('that does not exist is an error with its name', async () => {
    const cluster = read({ user: { exec: plugin({ command: './no-such-plugin' }) } });
    await expect(cluster.authorization()).rejects.toThrow(/no-such-plugin failed \(ENOENT\)/);
  });

  function printed(status: unknown): string {
    return `console.log(${JSON.stringify(JSON.stringify({ kind: 'ExecCredential', apiVersion: 'client.authentication.k8s.io/v1', status }))})`;
  }
});

describe('a TLS connection', () => {
  let stub: StubApi;
  beforeAll(async () => {
    stub = await startStubApi({ tls: pem, tokens: new Set(['secret']) });
  });
  afterAll(() => stub.close());

  async function outcome(cluster: Record<string, unknown>): Promise<string> {
    const api = new KubeApi(read({ cluster: { server: stub.url, ...cluster } }));
    try {
      return String((await api.list(PODS, 'models')).items.length);
    } catch (error) {
      expect(error).toBeInstanceOf(UnreachableError);
      return (error as UnreachableError).code;
    } finally {
      await api.close();
    }
  }

  certIt('checks the certificate by the configured CA and name', async () => {
    const ca = { 'certificate-authority-data': base64(pem.cert) };
    expect(await outcome({})).toBe('DEPTH_ZERO_SELF_SIGNED_CERT');
    expect(await outcome(ca)).toBe('0');
    expect(await outcome({ ...ca, 'tls-server-name': 'stub.test' })).toBe('0');
    expect(await outcome({ ...ca, 'tls-server-name': 'another.test' })).toBe('ERR_TLS_CERT_ALTNAME_INVALID');
    const byName = { ...ca, server: stub.url.replace('127.0.0.1', 'localhost') };
    expect(await outcome(byName)).toBe('ERR_TLS_CERT_ALTNAME_INVALID');
    expect(await outcome({ ...byName, 'tls-server-name': 'stub.test' })).toBe('0');
    expect(await outcome({ 'insecure-skip-tls-verify': true })).toBe('0');
  });

  certIt('uses a CA that was replaced on disk for the next connection', async () => {
    file('ca.crt', pem.cert);
    const cluster = read({ cluster: { server: stub.url, 'certificate-authority': 'ca.crt' } });
    const api = new KubeApi(cluster);
    await api.list(PODS, 'models');
    const other = mkdtempSync(path.join(tmpdir(), 'slipway-cert-'));
    execFileSync(
      'openssl',
      ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-subj', '/CN=other'].concat(
        '-keyout',
        path.join(other, 'key'),
        '-out',
        path.join(other, 'cert'),
      ),
      { stdio: 'pipe' },
    );
    file('ca.crt', readFileSync(path.join(other, 'cert'), 'utf8'));
    rmSync(other, { recursive: true });
    nowMs += 60_000;
    expect(cluster.tls.ca).not.toBe(pem.cert);
    const options = { resourceVersion: '1', timeoutSeconds: 1 };
    const watch = api.watch(PODS, 'models', options, new AbortController().signal);
    await expect(watch).rejects.toMatchObject({ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
    await api.close();
  });
});
