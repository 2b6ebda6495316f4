import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from '@jest/globals';
import { runCommand } from '../test/run-command.js';

const ROWS: Record<string, object[]> = {
  '/deployments': [
    { name: 'chat', environment: 'staging', labels: { team: 'search', tier: '1' } },
    { name: 'embed', environment: null, labels: {} },
  ],
  '/deployments/chat/revisions': [{ name: 'chat-00001' }, { name: 'chat-00002' }],
  '/deployments/chat/instances': [{ id: 'ins_1' }],
  '/deployments/chat/events': [{ type: 'rollout.promoted' }, { type: 'route.updated' }, { type: 'route.updated' }],
  '/operations': [{ id: 'op_1', kind: 'rollout' }],
  '/autopilot/plans': [{ id: 'plan_1' }],
  '/audit': [{ action: 'rollout.create', actor: 'service:ci', resource_type: 'deployment', resource_name: 'chat' }],
  '/admin/model-api/target-bindings': [{ id: 'bnd_1', target: { supplier: 'acme' } }],
  '/sandboxes/sbx_1/files': [{ path: 'a.txt' }],
};
const fetch = async (url: unknown) => {
  const { pathname } = new URL(String(url));
  return Response.json({ data: ROWS[pathname.replace('/api/v1', '')] ?? [], next_cursor: null });
};

async function completed(...words: string[]): Promise<string[]> {
  const home = mkdtempSync(path.join(tmpdir(), 'slipway-complete-'));
  mkdirSync(path.join(home, '.config/slipway'), { recursive: true });
  const contexts = { staging: { url: 'http://s.test', token: 't' }, prod: { url: 'http://p.test', token: 't' } };
  writeFileSync(path.join(home, '.config/slipway/contexts.json'), JSON.stringify({ contexts }), { mode: 0o600 });
  const { stdout } = await runCommand(['__complete', ...words], { fetch, env: { HOME: home } });
  rmSync(home, { recursive: true });
  return stdout.split('\n').filter(Boolean);
}

it.each<[line: string, values: string[]]>([
  ['rollouts create chat --strategy can', ['candidate', 'canary']],
  ['rollouts create chat --strategy=can', ['--strategy=candidate', '--strategy=canary']],
  ['rollouts create chat --base-revision ', ['chat-00001', 'chat-00002']],
  ['rollouts create chat --plan ', ['plan_1']],
  ['rollback chat --to-revision chat-00002', ['chat-00002']],
  ['rollback chat --on-active-operation ', ['supersede', 'fail']],
  ['routes set chat --targets ', ['chat-00001=', 'chat-00002=']],
  ['routes set chat --targets chat-00001=90,', ['chat-00001=90,chat-00001=', 'chat-00001=90,chat-00002=']],
  ['deployments metrics chat --revision chat-00001', ['chat-00001']],
  ['deployments list --environment ', ['staging']],
  ['deployments list -l t', ['team=search', 'tier=1']],
  ['deployments list -l team=se', ['team=search']],
  ['deployments list --json na', ['name']],
  ['deployments list --json name,st', ['name,state']],
  ['deployments list -o w', ['wide']],
  ['--context ', ['staging', 'prod']],
  ['--context=st', ['--context=staging']],
  ['context use p', ['prod']],
  ['context delete ', ['staging', 'prod']],
  ['context show ', []],
  ['context list ', []],
  ['logout ', ['staging', 'prod']],
  ['login ', []],
  ['operations list --status ca', ['cancelling', 'cancelled']],
  ['operations list --kind ', ['rollout']],
  ['operations list --waiting-for so', ['soak']],
  ['operations list --resource-name ch', ['chat']],
  ['events chat --type rou', ['route.updated']],
  ['logs chat --stream std', ['stdout', 'stderr']],
  ['audit list --action ', ['rollout.create']],
  ['audit list --actor ', ['service:ci']],
  ['tokens create ci --scopes vi', ['viewer']],
  ['tokens create ci --scopes viewer,o', ['viewer,operator']],
  ['webhooks create https://a.test --event-types route', ['route.updated']],
  ['webhooks create https://a.test --deployments chat,e', ['chat,embed']],
  ['policies set chat --mode o', ['off', 'observe']],
  ['plans list --state app', ['approved']],
  ['bindings create acme --deployment chat --revision chat-00001', ['chat-00001']],
  ['bindings create acme --supplier ', ['acme']],
  ['publications create acme --binding ', ['bnd_1']],
  ['sandboxes create --provider e', ['e2b']],
  ['files get sbx_1 a', ['a.txt']],
  ['export chat ', ['embed']],
  ['apply --dry-run=', ['--dry-run=client', '--dry-run=server']],
  ['apply --wait=f', ['--wait=false']],
  ['completion ', ['bash', 'zsh', 'fish']],
  ['api PO', ['POST']],
  ['api -X O', ['OPTIONS']],
  ['api O', ['OPTIONS']],
  ['logs chat ', ['ins_1']],
  ['operations wait ', ['chat', 'embed', 'op_1']],
  // Without values, the shell completes files.
  ['apply -f ', []],
  ['rollouts create chat --revision-file ', []],
  ['nonsense ', []],
])('%s is completed', async (line, values) => {
  expect(await completed(...line.split(' '))).toEqual(values);
});

it('gives bash only the part after the sign at which it splits', async () => {
  expect(await completed('rollouts', 'create', 'chat', '--strategy', '=', 'can')).toEqual(['candidate', 'canary']);
  expect(await completed('rollouts', 'create', 'chat', '--strategy', '=')).toContain('canary');
  expect(await completed('deployments', 'list', '-l', 'team', '=', 'se')).toEqual(['search']);
  expect(await completed('audit', 'list', '--actor', 'service', ':', 'c')).toEqual(['ci']);
});

it('completes nothing that a shell would interpret, and waits for no server', async () => {
  const odd = async () => Response.json({ data: [{ name: '$(reboot)' }, { name: 'a b' }, { name: 'chat' }] });
  expect((await runCommand(['__complete', 'deployments', 'get', ''], { fetch: odd })).stdout).toBe('chat\n');
  const gone = () => Promise.reject(new TypeError('refused'));
  expect(await runCommand(['__complete', 'deployments', 'get', ''], { fetch: gone })).toEqual({
    code: 0,
    stdout: '',
    stderr: '',
  });
});
