import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { bootApi, type TestApi } from '../harness/boot-api.js';
import { ContractClient, shown } from './client.js';
import { ApiDocument, type DocumentedOperation } from './document.js';
import { requestsTo, type FuzzRequest, type FuzzMaterial } from './fuzz-requests.js';
import { Bed, type ContractRequest } from '@slipway/platform-testing/contract';
import { ROWS } from './rows.js';

/** Requests to each operation. CI sends the default, `npm run fuzz` ten times as many. */
const RUNS = Number(process.env['SLIPWAY_FUZZ_RUNS'] ?? 200);
const SEED = Number(process.env['SLIPWAY_FUZZ_SEED'] ?? Date.now() % 2 ** 31);
/** Only this operation, to reproduce a failure. */
const ONLY = process.env['SLIPWAY_FUZZ_OPERATION'];
const CONNECTIONS = 4;
const TEMPLATES = 3;
/**
 * Quotas of the resources that each fresh request makes. The defaults are lower than
 * the number of requests to all operations.
 */
const ROWS_MADE = ['deployments', 'revisions', 'instances', 'tokens', 'sandboxes', 'sandbox_files', 'webhooks'];

jest.setTimeout(600_000 + RUNS * 2_000);

const home = mkdtempSync(path.join(tmpdir(), 'slipway-fuzz-'));
const templates = new Map<string, ContractRequest[]>();
const cursors = new Map<string, string[]>();
const successes = new Map<string, number>();
let api: TestApi;
let document: ApiDocument;
let bed: Bed;
let pool: string[];

beforeAll(async () => {
  const config = path.join(home, 'slipway.config.yaml');
  writeFileSync(config, `quotas: {${ROWS_MADE.map((quota) => `${quota}: 10000000`).join(', ')}}\n`);
  api = await bootApi({ SLIPWAY_HOME: home, SLIPWAY_CONFIG: config });
  document = await ApiDocument.of(api);
  bed = new Bed(api);
  const client = new ContractClient(api, document);
  // In sequence, so that the same seed finds the same failures in the same order.
  for (const one of document.operations) {
    const row = ROWS[one.operationId];
    if (!row) continue;
    const made: ContractRequest[] = [];
    for (let i = 0; i < TEMPLATES; i += 1) made.push(await row.valid(bed));
    templates.set(one.operationId, made);
    const first = await client.ask(
      one,
      one.isPaged ? { ...made[0], query: { ...made[0]!.query, limit: '1' } } : made[0]!,
    );
    cursors.set(
      one.operationId,
      [first.body?.next_cursor].filter((cursor) => typeof cursor === 'string'),
    );
  }
  pool = [
    ...new Set(
      [...templates.values()].flat().flatMap((asked) => [...Object.values(asked.params ?? {}), ...textsOf(asked.body)]),
    ),
  ];
});

afterAll(async () => {
  await api?.close();
  rmSync(home, { recursive: true, force: true });
});

it('has a row for every operation of the document', () => {
  expect(document.operations.filter((one) => !ROWS[one.operationId]).map((one) => one.operationId)).toEqual([]);
});

it(`answers ${RUNS} requests to every operation as the document says, soon, and without a failure of its own`, async () => {
  const waiting = document.operations.filter(
    (one) => templates.has(one.operationId) && (ONLY === undefined || ONLY === one.operationId),
  );
  const chosen = [...waiting];
  const failures: string[] = [];
  const judgeWaiting = async (): Promise<void> => {
    for (let one = waiting.shift(); one; one = waiting.shift()) {
      const failure = await fuzz(one);
      if (failure !== undefined) failures.push(failure);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, judgeWaiting));
  expect(failures.join('\n\n')).toBe('');
  // Requests that never pass the first check would prove little.
  expect(chosen.filter((one) => !successes.get(one.operationId)).map((one) => one.operationId)).toEqual([]);
});

/** Returns the failure, reduced to the smallest request that shows it, and how to reproduce it. */
async function fuzz(one: DocumentedOperation): Promise<string | undefined> {
  const material: FuzzMaterial = {
    templates: templates.get(one.operationId)!,
    pool,
    cursors: cursors.get(one.operationId)!,
  };
  const property = fc.asyncProperty(requestsTo(one, document, material), (request) => judge(one, request));
  const outcome = await fc.check(property, {
    numRuns: RUNS,
    seed: SEED,
    interruptAfterTimeLimit: 60_000 + RUNS * 1_000,
    markInterruptAsFailure: true,
  });
  if (!outcome.failed) return undefined;
  const [smallest] = outcome.counterexample ?? [];
  const again = `SLIPWAY_FUZZ_SEED=${SEED} SLIPWAY_FUZZ_RUNS=${RUNS} SLIPWAY_FUZZ_OPERATION=${one.operationId}`;
  return `${one.operationId} after ${outcome.numRuns} requests: ${String(outcome.errorInstance ?? 'interrupted')}\n  smallest: ${smallest ? shown(smallest.sent) : '-'}\n  again: ${again}`;
}

async function judge(one: DocumentedOperation, { isFresh, sent }: FuzzRequest): Promise<void> {
  const client = new ContractClient(api, document);
  const answer = await client.ask(one, isFresh ? await ROWS[one.operationId]!.valid(bed) : sent);
  if (client.violations.length > 0) throw new Error(client.violations.join('\n'));
  if (answer.status < 300) successes.set(one.operationId, (successes.get(one.operationId) ?? 0) + 1);
}

function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : [];
}
