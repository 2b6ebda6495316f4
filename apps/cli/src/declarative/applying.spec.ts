import { beforeEach, describe, expect, it } from '@jest/globals';
import { runCommand } from '../../test/run-command.js';

const spec = { model: { id: 'm' }, runtime: { target: 'local', engine: 'sim' } };
const file = `
deployment: { name: chat }
spec: ${JSON.stringify(spec)}
route: { targets: [{ revision: self, weight: 100 }], affinity: { mode: none } }
policy: { mode: observe, slos: [] }
`;
const operation = { id: 'op_1', kind: 'rollout', resource_name: 'chat', status: 'succeeded', completed_at: 'now' };

interface Call {
  what: string;
  body: any;
  key: string | null;
  ifMatch: string | null;
  isStrict: boolean;
}
let written: Call[];
/** The answers of GET, by their path below the deployment's. An absent path does not exist. */
let has: Record<string, object>;
let warnings: unknown;

beforeEach(() => {
  warnings = undefined;
  written = [];
  has = {};
});

const deployment = (etag: string, more: object = {}) => ({
  name: 'chat',
  etag,
  active_revision: null,
  candidate_revision: null,
  ...more,
});

const CODES: Record<string, string> = {
  '/route': 'route_not_found',
  '/continual-optimization/policy': 'policy_not_found',
};

/** Stores what it receives, as far as the next read shows it. */
const fetch: typeof globalThis.fetch = async (url, init) => {
  const { pathname, searchParams } = new URL(String(url));
  const isRehearsal = searchParams.has('validate_only');
  const below = pathname.replace('/api/v1/deployments', '').replace('/chat', '');
  const method = init?.method ?? 'GET';
  if (pathname.includes('/operations/')) return Response.json({ ...operation, result: {}, steps: [] });
  if (method === 'GET') {
    if (has[below]) return Response.json(has[below]);
    const code = CODES[below] ?? 'deployment_not_found';
    return Response.json({ error: { code, message: 'No.', category: 'not_found' } }, { status: 404 });
  }
  const headers = new Headers(init?.headers);
  const body = init?.body ? JSON.parse(String(init.body)) : undefined;
  const [key, ifMatch] = [headers.get('idempotency-key'), headers.get('if-match')];
  const isStrict = searchParams.get('strict') === 'true';
  written.push({ what: `${isRehearsal ? 'rehearse ' : ''}${method} ${below}`, body, key, ifMatch, isStrict });
  if (below === '') has[''] = deployment('"d1"');
  if (below === '/rollouts' && !isRehearsal) {
    has[''] = { ...has[''], etag: '"d2"', active_revision: 'chat-00001' };
    has['/revisions/chat-00001'] = { name: 'chat-00001', spec };
    has['/route'] = { targets: [{ revision: 'chat-00001', weight: 100 }], affinity: { mode: 'soft' }, etag: '"r1"' };
    return Response.json({ operation: { ...operation, result: { revision: 'chat-00001' } } }, { status: 202 });
  }
  if (isRehearsal) return Response.json({ valid: true, would: 'do it', steps: [], diff: [], warnings });
  return Response.json({ ...has[below], etag: '"new"', warnings });
};
const apply = (stdin = file, ...more: string[]) =>
  runCommand(['apply', '-f', '-', '-o', 'json', ...more], { fetch, stdin });
const calls = () => written.map(({ what }) => what);

describe('apply', () => {
  it('makes the calls in their order, and sets the route last, to the revision that was rolled out', async () => {
    const ran = await apply();
    expect([ran.code, JSON.parse(ran.stdout)]).toMatchObject([0, [{ outcome: 'created', revision: 'chat-00001' }]]);
    expect(calls()).toEqual(['POST ', 'PUT /continual-optimization/policy', 'POST /rollouts', 'PUT /route']);
    expect(written.at(-1)).toMatchObject({
      body: { targets: [{ revision: 'chat-00001', weight: 100 }] },
      ifMatch: '"r1"',
    });
  });

  it('requests the same rollout with the same key, and with a new key once the deployment has changed', async () => {
    const keys = [];
    for (const etag of ['"d1"', '"d1"', '"d2"']) {
      has = { '': deployment(etag) };
      written = [];
      await apply(`deployment: { name: chat }\nspec: ${JSON.stringify(spec)}`);
      keys.push(written[0]?.key);
    }
    expect(keys[0]).toMatch(/^apply-[0-9a-f]{64}$/);
    expect([keys[0] === keys[1], keys[1] === keys[2]]).toEqual([true, false]);
  });

  it('overwrites nothing that someone has changed meanwhile', async () => {
    has = { '': deployment('"d1"'), '/continual-optimization/policy': { mode: 'off', etag: '"p1"' } };
    await apply('deployment: { name: chat }\npolicy: { mode: observe, slos: [] }');
    expect(written).toMatchObject([{ what: 'PUT /continual-optimization/policy', ifMatch: '"p1"' }]);
  });

  it('does not change the route if it does not wait for the rollout', async () => {
    const ran = await apply(file, '--wait=false');
    expect([ran.code, calls().at(-1)]).toEqual([0, 'POST /rollouts']);
    expect(ran.stderr).toContain('the route is not set yet: apply the file again after the rollout ends');
  });

  it('asks before it changes a production deployment, but not if there is nothing to change', async () => {
    has = { '': deployment('"d1"', { environment: 'production', description: 'old' }) };
    const described = (text: string) => `deployment: { name: chat, description: ${text} }`;
    expect([(await apply(described('new'))).code, calls()]).toEqual([1, []]);
    expect([(await apply(described('old'))).code, calls()]).toEqual([0, []]);
    expect([(await apply(described('new'), '--yes')).code, calls()]).toEqual([0, ['PATCH ']]);
  });

  it('changes nothing if one of several files is invalid', async () => {
    const { code, stderr } = await apply(`${file}\n---\ndeployment: { nam: other }`);
    expect([code, calls(), stderr]).toEqual([1, [], expect.stringContaining('Nothing was changed')]);
  });

  it('only rehearses for --dry-run', async () => {
    has = { '': deployment('"d1"', { description: 'old' }) };
    const changed = file.replace('name: chat', 'name: chat, description: new');
    expect([(await apply(changed, '--dry-run')).code, calls()]).toEqual([0, []]);
    expect((await apply(changed, '--dry-run=server')).code).toBe(0);
    expect(calls()).toEqual(['PATCH', 'PUT', 'POST'].map((method) => expect.stringMatching(`^rehearse ${method} `)));
  });

  it('shows the warnings of rehearsals and of changes, whatever their form', async () => {
    warnings = [{ code: 'later', field: 'spec' }, null];
    for (const more of [['--dry-run=server'], []]) {
      has = { '': deployment('"d1"', { description: 'old' }) };
      const ran = await apply('deployment: { name: chat, description: new }', ...more);
      expect([more, ran.code, ran.stderr]).toEqual([more, 0, expect.stringContaining('Warning: later: spec\n')]);
    }
  });

  it('sends unknown fields only with --allow-unknown, and lets the api ignore them', async () => {
    has = { '': deployment('"d1"') };
    const text = 'deployment: { name: chat, lables: { a: b } }';
    const refused = await apply(text);
    expect([refused.code, calls(), refused.stderr]).toEqual([1, [], expect.stringContaining('--allow-unknown')]);
    const ran = await apply(text, '--allow-unknown');
    expect([ran.code, ran.stderr]).toEqual([0, expect.stringContaining('additional properties: lables')]);
    expect(written).toMatchObject([{ what: 'PATCH ', body: { lables: { a: 'b' } }, isStrict: false }]);
    written = [];
    await apply('deployment: { name: chat, description: new }');
    expect(written).toMatchObject([{ isStrict: true }]);
  });

  it('names what a rollout without a strategy does, unless the file has a route', async () => {
    has = { '': deployment('"d1"') };
    const text = `deployment: { name: chat }\nspec: ${JSON.stringify(spec)}`;
    expect((await apply(text, '--wait=false')).stderr).toContain('chat has no default strategy');
    has = { '': deployment('"d1"') };
    expect((await apply(file, '--wait=false')).stderr).not.toContain('default strategy');
    has = { '': deployment('"d1"') };
    expect((await apply(`${text}\nstrategy: { type: immediate }`, '--wait=false')).stderr).not.toContain('no default');
  });
});
