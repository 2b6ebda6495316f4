import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from '@jest/globals';
import type { Command } from 'commander';
import { runCommand, wordsOf } from '../test/run-command.js';
import { programOf } from './program.js';
import { Session } from './session.js';

interface Parameter {
  name: string;
  in: string;
  schema: { enum?: string[] };
}
interface Document {
  paths: Record<string, Record<string, { operationId: string; parameters?: Parameter[] }>>;
}

const file = createRequire(import.meta.url).resolve('@slipway/sdk/openapi.json');
const { paths } = JSON.parse(readFileSync(file, 'utf8')) as Document;
const routes = Object.entries(paths).flatMap(([route, methods]) =>
  Object.entries(methods).map(([method, { operationId, parameters = [] }]) => ({
    operationId,
    filters: parameters.filter((one) => one.in === 'query'),
    pattern: new RegExp(`^${method.toUpperCase()} ${route.replace(/\{\w+\}/g, '[^/]+')}$`),
    isPlain: !route.includes('{'),
  })),
);
/** Matches paths without a parameter first: `/sandboxes/references` is no sandbox. */
const operationOf = (request: string) =>
  routes.sort((a, b) => Number(b.isPlain) - Number(a.isPlain)).find(({ pattern }) => pattern.test(request))
    ?.operationId;

const row = {
  id: 'x_1',
  event_id: 'evt_1',
  name: 'x',
  revision: 'x',
  status: 'succeeded',
  completed_at: 'now',
  current_operation_id: 'op_1',
  kind: 'rollout',
  current_step: 'promote',
  progress: 100,
  message: '',
  result: {},
  content_digest: 'sha256:1',
  steps: [],
};
const named = ['tok_1', 'ten_1'].map((id) => ({ ...row, id, name: id }));
const answer = { ...row, operation: row, data: named, next_cursor: null };

function answerTo(request: Request): Response {
  const asked = request.headers.get('accept');
  if (asked === 'text/event-stream') {
    if (!request.url.includes('/logs')) return new Response(null, { status: 204 });
    return new Response('event: end\ndata: {"reason":"complete"}\n\n', { headers: { 'content-type': asked } });
  }
  if (asked === 'text/plain' || asked === 'application/octet-stream') return new Response('some text\n');
  // An empty chain of an audit log is valid.
  return Response.json(request.url.includes('/audit') ? { data: [], next_cursor: null } : answer);
}

const program = programOf(new Session({ ...process, cwd: '/', signal: new AbortController().signal }), '0');

interface Leaf {
  words: string;
  /** The lines of its help. */
  examples: string[];
  /** With the values that each takes, if it names them. */
  flags: Map<string, string[] | undefined>;
}

/** Every command that does something. */
function leaves(command: Command, words: string[] = []): Leaf[] {
  if (command.commands.length > 0) return command.commands.flatMap((one) => leaves(one, [...words, one.name()]));
  let help = '';
  command.configureOutput({ writeOut: (text) => (help += text) });
  command.outputHelp();
  const examples = help
    .slice(help.indexOf('Examples:'))
    .split('\n')
    .slice(1)
    .map((line) => line.trim())
    .filter(Boolean);
  const flags = new Map(command.options.map(({ long, argChoices }) => [long ?? '', argChoices]));
  return [{ words: words.join(' '), examples, flags }];
}

const commands = leaves(program);
/** These use a shell, or read and write files on this machine: other specs run them. */
const ELSEWHERE = /^(completion|login|logout|context|apply|diff|export|schema|doctor|open|chat|up)\b/;

it('reaches every operation of the document by a noun and a verb, with the lines that its help shows', async () => {
  const home = mkdtempSync(path.join(tmpdir(), 'slipway-cli-'));
  writeFileSync(path.join(home, 'package.json'), '{}');
  const reached = new Set<string | undefined>();
  for (const { words, examples } of commands.filter(({ words }) => !ELSEWHERE.test(words))) {
    expect([words, examples.length > 0]).toEqual([words, true]);
    for (const example of examples) {
      const [slipway, ...given] = wordsOf(example);
      expect([example, slipway, given.join(' ').startsWith(words)]).toEqual([example, 'slipway', true]);
      const operations: (string | undefined)[] = [];
      const ran = await runCommand(given, {
        env: { HOME: home },
        stdin: 'secret',
        fetch: async (url, init) => {
          const request = new Request(url, { ...init, ...(init?.body ? { duplex: 'half' } : {}) } as RequestInit);
          operations.push(operationOf(`${request.method} ${new URL(request.url).pathname}`));
          return answerTo(request);
        },
      });
      expect([example, ran.code, ran.code === 0 ? '' : ran.stderr]).toEqual([example, 0, '']);
      if (words !== 'api') for (const operation of operations) reached.add(operation);
    }
  }
  rmSync(home, { recursive: true });
  const missing = routes.map(({ operationId }) => operationId).filter((id) => !reached.has(id));
  expect(routes.length).toBeGreaterThan(60);
  expect({ missing, unknown: reached.has(undefined) }).toEqual({ missing: [], unknown: false });
});

it('has a summary and an example for each command', () => {
  expect(commands.length).toBeGreaterThan(70);
  for (const { words, examples } of commands) expect([words, examples.length > 0]).toEqual([words, true]);
});

it.each([
  [
    'publications create acme/chat --binding bnd_1',
    'POST /admin/model-api/publications',
    { product_id: 'x_1', bindings: [{ binding_id: 'bnd_1', weight: 100, priority: 1 }] },
  ],
  [
    'access revoke u1 --organization o1 --yes',
    'PUT /console/access',
    { provider: 'oidc', external_organization_id: 'o1', external_user_id: 'u1', access: false },
  ],
  [
    'deployments scale chat --replicas 2 --yes',
    'PATCH /deployments/chat',
    { scaling: { min_replicas: 2, max_replicas: 2 } },
  ],
  ['webhooks send whk_1 chat 7', 'POST /webhooks/whk_1/deliveries', { deployment: 'chat', sequence: 7 }],
  ['tokens revoke ci --yes', 'DELETE /tokens/x_1', undefined],
  ['files delete sbx_1 a/b.txt --yes', 'DELETE /sandboxes/sbx_1/files', undefined],
])('%s: sends %s', async (line, requested, body) => {
  const requests: unknown[] = [];
  const ran = await runCommand(line.split(' '), {
    fetch: async (url, init) => {
      const request = new Request(url, init as RequestInit);
      const path = new URL(request.url).pathname.replace('/api/v1', '');
      requests.push([`${request.method} ${path}`, await request.json().catch(() => undefined)]);
      return Response.json({
        ...row,
        data: [{ ...row, slug: 'acme/chat', name: 'ci', state: 'active' }],
        next_cursor: null,
      });
    },
  });
  expect([ran.code, requests.at(-1)]).toEqual([0, [requested, body]]);
});

it('makes a command for each operation that no table names', async () => {
  const plain = leaves(programOf(new Session({ ...process, cwd: '/', signal: new AbortController().signal }), '0', []));
  const reached: (string | undefined)[] = [];
  const bodies: unknown[] = [];
  const run = (words: readonly string[]) =>
    runCommand([...words, '--yes'], {
      groups: [],
      fetch: async (url, init) => {
        const request = new Request(url, init as RequestInit);
        reached.push(operationOf(`${request.method} ${new URL(request.url).pathname}`));
        bodies.push(await request.json().catch(() => undefined));
        return answerTo(request);
      },
    });
  for (const { examples } of plain) {
    const ran = await run(wordsOf(examples[0]!).slice(1));
    expect([examples, ran.code, ran.code === 0 ? '' : ran.stderr]).toEqual([examples, 0, '']);
  }
  expect(reached.sort()).toEqual(routes.map(({ operationId }) => operationId).sort());
  const fields = ['--name', 'chat', '--labels', '{"team":"search"}', '--drain-seconds', '5'];
  expect((await run(['deployments', 'create', ...fields])).code).toBe(0);
  expect(bodies.at(-1)).toEqual({ name: 'chat', labels: { team: 'search' }, drain_seconds: 5 });
});

/** The flags of parameters with another name. */
const FLAG_OF: Record<string, string> = { q: '--search', product_id: '--product' };

/** Parameters that a command sends without a flag of that name, with the reason. */
const WITHOUT_FLAG: Record<string, Record<string, string>> = {
  '*': { limit: '--limit of every list', cursor: 'the command reads the pages' },
  events: { after: '--since', order: '--follow shows the oldest first' },
  'operations events': { after: '--since', order: 'as above' },
  'files list': { path: 'files get' },
  'rollouts list': { kind: 'rollouts are one kind', resource_name: 'an argument' },
  'rollouts history': {
    kind: 'rollouts and rollbacks',
    resource_name: 'an argument',
    status: 'only those that have ended',
    waiting_for: 'they wait for nothing',
    order: 'two lists are merged, newest first',
  },
};

it('offers each filter of a list as a flag, with the values that the document has', async () => {
  const lists = commands.filter(({ flags }) => flags.has('--limit'));
  expect(lists.length).toBeGreaterThan(20);
  const faults: string[] = [];
  let choices = 0;
  for (const { words, flags, examples } of lists) {
    const requests: string[] = [];
    const [, ...given] = wordsOf(examples[0]!);
    await runCommand(given, {
      fetch: async (url, init) => {
        const request = new Request(url, init as RequestInit);
        requests.push(`${request.method} ${new URL(request.url).pathname}`);
        return answerTo(request);
      },
    });
    const operation = routes.find(({ operationId }) => operationId === operationOf(requests.at(-1)!));
    const excused = { ...WITHOUT_FLAG['*'], ...WITHOUT_FLAG[words] };
    for (const { name, schema } of operation!.filters) {
      const flag = FLAG_OF[name] ?? `--${name.replaceAll('_', '-')}`;
      if (!(name in excused) && !flags.has(flag)) faults.push(`${words}: no ${flag}`);
      const taken = flags.get(flag);
      if (!taken) continue;
      choices += 1;
      if ([...taken].sort().join() !== [...(schema.enum ?? [])].sort().join())
        faults.push(`${words}: ${flag} takes ${taken.join()}, and the api ${schema.enum?.join()}`);
    }
  }
  expect(faults).toEqual([]);
  expect(choices).toBeGreaterThan(20);
});
