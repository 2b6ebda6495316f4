import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { canonicalJson } from '@slipway/platform-database';
import { declaredRoute, operationsOf } from '@slipway/platform-http';
import { Schedule } from '@slipway/platform-durable/scheduling';
import { COMMANDS } from '@slipway/registry';
import { Bed, owned, type ContractRequest } from '@slipway/platform-testing/contract';
import type { OptionsOf, Slipway } from '@slipway/sdk';
import { bootApi, type Answer, type TestApi } from '../harness/boot-api.js';
import { pathOf } from '../contract/client.js';
import { ROWS } from '../contract/rows.js';
import { changedTables, tableMarks } from '../harness/every-row.js';
import { codeOf } from '../harness/refusals.js';

interface Case {
  operationId: string;
  method: string;
  path: string;
}

/** Every mutation in one test, on busy machines. */
const LONG_MS = 240_000;

let api: TestApi;
let bed: Bed;
let cases: Case[];

beforeAll(async () => {
  api = await bootApi();
  bed = new Bed(api);
  const { body } = await api.send('GET', '/openapi.json', { token: null });
  cases = operationsOf(body)
    .filter(({ method }) => method !== 'get')
    .map(({ path, method, operation }) => ({ operationId: operation.operationId, method: method.toUpperCase(), path }));
});

afterAll(async () => {
  await api?.close();
});

/** Runs every case and collects the failures, so that one failure does not hide the others. */
async function failuresOf(chosen: Case[], judge: (one: Case) => Promise<string | undefined>): Promise<string[]> {
  const failures: string[] = [];
  for (const one of chosen) {
    const failure = await judge(one).catch((error: Error) => error.message);
    if (failure !== undefined) failures.push(`${one.operationId}: ${failure}`);
  }
  return failures;
}

const known = (): Case[] => cases.filter((one) => ROWS[one.operationId]?.audit);

function send(one: Case, asked: ContractRequest & { text?: string }, requestId: string): Promise<Answer> {
  const hasBody = one.method !== 'GET' && one.method !== 'DELETE';
  return api.send(one.method, pathOf(one, asked), {
    token: asked.token,
    body: hasBody ? (asked.text ?? asked.body ?? {}) : undefined,
    headers: { 'x-request-id': requestId },
  });
}

async function auditRows(
  requestId: string,
): Promise<{ action: string; actor: string; xmin: string; after_digest: string | null }[]> {
  return owned(api, `select action, actor, after_digest, xmin::text from audit_log where request_id = $1`, [requestId]);
}

/** Returns the tables in which a transaction has left rows. */
async function tablesOf(xmin: string): Promise<string[]> {
  const tables = await owned<{ name: string }>(
    api,
    `select tablename as name from pg_tables where schemaname = 'public' and tablename <> 'audit_log' order by 1`,
  );
  const parts = tables.map(
    ({ name }) => `select '${name}' as name where exists (select 1 from "${name}" where xmin = $1::text::xid)`,
  );
  return (await owned<{ name: string }>(api, parts.join(' union all '), [xmin])).map(({ name }) => name);
}

describe('every mutation of the OpenAPI document', () => {
  it('has an audit name, and no other operation has one', () => {
    const named = Object.keys(ROWS).filter((id) => ROWS[id]!.audit !== undefined);
    expect(named.sort()).toEqual(cases.map((one) => one.operationId).sort());
  });

  it(
    'writes exactly one audit row, in the transaction of its change',
    async () => {
      const judge = async (one: Case): Promise<string | undefined> => {
        const { valid, audit } = ROWS[one.operationId]!;
        const answer = await send(one, await valid(bed), `one-${one.operationId}`);
        if (answer.status >= 300) return `answered ${answer.status} ${answer.text.slice(0, 300)}`;
        const rows = await auditRows(`one-${one.operationId}`);
        if (rows.length !== 1) return `wrote ${rows.length} audit rows`;
        const [row] = rows as [(typeof rows)[0]];
        if (row.action !== audit) return `is called ${row.action}`;
        if (!/^token:tok_/.test(row.actor)) return `names the actor ${row.actor}`;
        // A deletion leaves no rows to find.
        if (one.method !== 'DELETE' && (await tablesOf(row.xmin)).length === 0)
          return 'wrote its row in a transaction of its own';
        return undefined;
      };
      expect(await failuresOf(known(), judge)).toEqual([]);
    },
    LONG_MS,
  );

  it(
    'changes nothing if its audit row cannot be written',
    async () => {
      const judge = async (one: Case): Promise<string | undefined> => {
        const asked = await ROWS[one.operationId]!.valid(bed);
        await owned(api, `alter table audit_log add constraint full_up check (false) not valid`);
        try {
          const before = await tableMarks(api);
          const answer = await send(one, asked, `full-${one.operationId}`);
          if (answer.status !== 500) return `answered ${answer.status} ${answer.text.slice(0, 200)}`;
          const changed = changedTables(before, await tableMarks(api));
          return changed.length > 0 ? `changed ${changed.join(', ')}` : undefined;
        } finally {
          await owned(api, `alter table audit_log drop constraint full_up`);
        }
      };
      expect(await failuresOf(known(), judge)).toEqual([]);
    },
    LONG_MS,
  );

  it(
    'writes no audit row when it is rehearsed or refused',
    async () => {
      const judge = async (one: Case): Promise<string | undefined> => {
        const asked = await ROWS[one.operationId]!.valid(bed);
        const id = `none-${one.operationId}`;
        if (declaredRoute(one.operationId)!.dryRun) {
          const rehearsed = await send(one, { ...asked, query: { validate_only: 'true' } }, id);
          if (rehearsed.status !== 200)
            return `rehearsing answered ${rehearsed.status} ${rehearsed.text.slice(0, 200)}`;
        }
        if (one.path.includes('{')) await send(one, { ...asked, params: {} }, id);
        if (one.method !== 'DELETE') await send(one, { ...asked, text: '[]' }, id);
        const rows = await auditRows(id);
        return rows.length === 0 ? undefined : `wrote ${rows.length} audit rows`;
      };
      expect(await failuresOf(known(), judge)).toEqual([]);
    },
    LONG_MS,
  );
});

describe('GET /audit', () => {
  let token: string;
  let tenantId: string;
  let slipway: Slipway;
  beforeAll(async () => {
    ({ token, id: tenantId } = await api.createTenant('audited'));
    slipway = api.slipway(token);
    for (const name of ['one', 'two', 'three'])
      await slipway.deployments.create({ name }, { headers: { 'x-request-id': `make-${name}` } });
    await slipway.tokens.create({ name: 'n', scopes: ['viewer'] });
  });

  const list = async (query: OptionsOf<'listAudit'> = {}, by = slipway): Promise<any> => by.audit.list(query);
  const names = (page: any): string[] => page.data.map((row: any) => row.resource_name);

  it('lists the rows of the caller, newest first, with pages and filters', async () => {
    const all = await list();
    expect(all.data.map((row: any) => row.action)).toEqual([
      'token.create',
      'deployment.create',
      'deployment.create',
      'deployment.create',
    ]);
    expect(all.data[3]).toMatchObject({
      tenant_id: tenantId,
      resource_type: 'deployment',
      resource_name: 'one',
      request_id: 'make-one',
      before_digest: null,
      after_digest: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    const first = await list({ limit: 3 });
    const second = await list({ limit: 3, cursor: first.next_cursor });
    expect([...first.data, ...second.data]).toEqual(all.data);
    expect(second.next_cursor).toBeNull();
    expect(names(await list({ action: 'deployment.create', resource_name: 'two' }))).toEqual(['two']);
    expect(names(await list({ resource_type: 'deployment' }))).toEqual(['three', 'two', 'one']);
    const { actor } = all.data[0];
    expect((await list({ actor })).data).toEqual(all.data);
    expect((await list({ actor: 'token:nobody' })).data).toEqual([]);
    expect((await api.send('GET', '/api/v1/audit?action=a&action=b', { token })).status).toBe(400);
    const operator = api.slipway(await api.createToken('operator', token));
    expect(await codeOf(list({}, operator))).toBe('403 scope_insufficient');
    expect(names(await list({ resource_name: 'two' }, api.slipway()))).toEqual([]);
  });

  it('shows the chain once the sweeper has sealed it, and a client can recompute it', async () => {
    expect((await list({ limit: 1 })).data[0]).toMatchObject({ sequence: null, previous_hash: null, hash: null });
    await api.app.get(Schedule, { strict: false }).runNow();
    const rows = (await list({ limit: 200 })).data.reverse();
    let previous = '0'.repeat(64);
    for (const [index, { previous_hash, hash, ...covered }] of rows.entries()) {
      expect([covered.sequence, previous_hash]).toEqual([index + 1, previous]);
      previous = createHash('sha256')
        .update(previous_hash + canonicalJson(covered))
        .digest('hex');
      expect(hash).toBe(previous);
    }
    expect(await COMMANDS['audit-verify']!(api.config, [])).toBe(0);
    await owned(api, `update audit_log set actor = 'token:tok_other' where tenant_id = $1 and sequence = 2`, [
      tenantId,
    ]);
    expect(await COMMANDS['audit-verify']!(api.config, [])).toBe(1);
    expect(await COMMANDS['audit-verify']!(api.config, ['--tenant', 'default'])).toBe(0);
  });
});
