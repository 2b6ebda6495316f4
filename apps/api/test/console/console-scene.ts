import type { BodyOf } from '@slipway/sdk';
import type { LeakySupplier } from '../harness/leaky-supplier.js';
import { until, type Stack } from '../harness/stack.js';

export const sim = (model: string, args: Record<string, unknown> = {}) => ({
  model: { id: model },
  runtime: { target: 'local', engine: 'sim', args },
});

/** Makes a deployment whose first revision serves. */
export async function serve(stack: Stack, name: string, args: Record<string, unknown> = {}): Promise<void> {
  await stack.slipway().deployments.create({ name });
  const id = await stack.rollOut(name, { spec: sim(`${name}-one`, args), strategy: { type: 'immediate' } });
  const { status, message } = await stack.operation(id);
  if (status !== 'succeeded') throw new Error(`${name} does not serve: ${message}`);
}

/** Makes one of everything that a screen can show. @returns the parameters of the screens that need one */
export async function fill(stack: Stack, supplier: LeakySupplier): Promise<Record<string, string>> {
  const slipway = stack.slipway();
  const alice = await person(stack, 'alice', 'operator');
  await serve(stack, 'chat');
  await slipway.deployments.policy.set('chat', {
    mode: 'recommend',
    slos: [{ metric: 'ttft_ms', stat: 'p95', threshold: 500 }],
    workload: { request_rate: 1 },
  });
  await recordTraffic(stack, 'chat');
  const changes = [{ op: 'replace' as const, path: '/scaling/min_replicas', from: 1, value: 2 }];
  const prediction = { metric: 'ttft_ms', stat: 'p95', now: 1_110, predicted: { value: 154, low: 120, high: 198 } };
  const plan = await stack
    .as(alice)
    .autopilot.plans.create({ deployment: 'chat', changes, predicted_impact: { metrics: [prediction] } });
  const failing = await stack.rollOut('chat', {
    spec: sim('chat-never', { never_ready: true }),
    progress_deadline_seconds: 1,
  });
  await stack.operation(failing);
  await slipway.deployments.create({ name: 'empty' });

  const sandbox = await slipway.sandboxes.create({});
  await slipway.sandboxes.files.put(sandbox.id, { path: 'notes/a.txt', content: 'text' });
  await slipway.sandboxes.references.create({
    provider: 'custom',
    base_url: 'https://sandboxes.example.com',
    external_id: 'external',
    credential: 'secret',
  });
  await publish(stack, supplier, 'acme/chat');
  await slipway.tenants.create({ name: 'acme' });
  await slipway.webhooks.create({ url: 'https://hooks.example.com/slipway' });
  await until('the traffic of chat is merged', async () => {
    const { slos } = await slipway.autopilot.diagnosis.get('chat');
    return (slos[0]?.curve.length ?? 0) > 0;
  });
  return { 'deployments/$name': 'chat', 'operations/$id': failing, 'plans/$id': plan.id, 'sandboxes/$id': sandbox.id };
}

/** Publishes a model API of this supplier. @returns the product's id */
export async function publish(stack: Stack, supplier: LeakySupplier, slug: string): Promise<string> {
  const { products, targetBindings, publications } = stack.slipway().admin.modelApi;
  const product = await products.create({ slug, display_name: 'Acme Chat', context_length: 8192 });
  const { baseUrl: base_url, model, credential } = supplier;
  const target = { supplier: 'zzsupplierzz', base_url, model, credential };
  const binding = await targetBindings.create({ product_id: product.id, target });
  await stack.operation((await targetBindings.qualify(binding.id)).operation.id);
  await publications.create({
    product_id: product.id,
    bindings: [{ binding_id: binding.id, weight: 100, priority: 1 }],
    audience: { visibility: 'shared', tenants: [] },
  });
  return product.id;
}

const tokensOf = new Map<string, number>();

/** Makes a token that belongs to this person: its name is that of the person, and those of further ones are numbered. */
export async function person(stack: Stack, id: string, scope: 'viewer' | 'operator' | 'admin'): Promise<string> {
  const count = (tokensOf.get(id) ?? 0) + 1;
  tokensOf.set(id, count);
  const name = count === 1 ? id : `${id} ${count}`;
  const body: BodyOf<'createToken'> = { name, scopes: [scope], owner: { type: 'person', id } };
  return (await stack.slipway().tokens.create(body)).token!;
}

/**
 * Adds revisions after the existing ones, as a year of rollouts leaves them. Writes rows directly:
 * real rollouts would need an engine each.
 */
export async function age(stack: Stack, name: string, revisions: number): Promise<void> {
  await stack.query(
    `insert into revisions (id, tenant_id, deployment_id, number, name, state, spec, spec_digest, source, created_by, ready_at)
     select r.id || '-' || n, r.tenant_id, r.deployment_id, n, $1 || '-' || lpad(n::text, 5, '0'), 'retired',
            jsonb_set(r.spec, '{model,id}', to_jsonb('model-' || n)), encode(sha256(n::text::bytea), 'hex'), r.source, r.created_by, now()
     from revisions r, generate_series(2, $2::int) n where r.name = $1 || '-00001'`,
    [name, revisions],
  );
}

/** Appends events after the existing ones, as the product itself does, so that watchers are notified. */
export async function happen(stack: Stack, name: string, count: number): Promise<void> {
  const { id } = await stack.slipway().deployments.get(name);
  await stack.query(
    `with head as (
       update event_streams set last_sequence = last_sequence + $2 where stream = $1 returning stream, tenant_id, last_sequence - $2 as before
     ), added as (
       insert into events (stream, sequence, tenant_id, id, type, subject, actor, data)
       select h.stream, h.before + n, h.tenant_id, 'evt_' || $3 || '_' || h.before + n, 'route.updated', 'deployments/' || $3, 'system:test',
              '{"generation": 1, "reason": "one of very many"}'
       from head h, generate_series(1, $2::int) n
     )
     select pg_notify('slipway_events', stream) from head`,
    [`deployment/${id}`, count, name],
  );
}

/**
 * Milliseconds by the load of the instance: alone, with 1.4 others (bucket 3), and with 3.8 others (bucket 5), so that
 * requests wait.
 */
const PHASES = [
  { bucket: 0, requests: 6, ttft_ms: 106, itl_ms: 10 },
  { bucket: 3, requests: 16, ttft_ms: 190, itl_ms: 13 },
  { bucket: 5, requests: 22, ttft_ms: 1_110, itl_ms: 20 },
  { bucket: 5, requests: 22, ttft_ms: 1_110, itl_ms: 20 },
];
const TOKENS = 80;
const RECORDED_SECONDS = 4_200;
const WINDOW_SECONDS = 10;

/**
 * Writes windows of the last seventy minutes as a gateway records them, and lets the worker merge them. Real requests
 * would need as long as that.
 */
export async function recordTraffic(stack: Stack, name: string): Promise<void> {
  const { id } = await stack.slipway().deployments.revisions.get(name, '1');
  const windows = PHASES.map(windowOf);
  await stack.query(
    `insert into dataplane_request_stats (revision_id, window_start, gateway_id, tenant_id, ok, client_error, server_error, connect_error, cancelled, retried, streamed,
       tokens_in, tokens_out, histograms, loads, arrivals, session_arrivals, refused, tokens)
     select $1, date_trunc('second', now()) - make_interval(secs => 60 + $2 * n), 'recorded', r.tenant_id, w.requests, 0, 0, 0, 0, 0, w.requests,
       w.requests * 200, w.requests * $5, w.histograms, w.loads, w.requests, 0, 0, w.tokens
     from revisions r, generate_series(1, $3::int / $2::int) n
     join lateral jsonb_to_recordset($4) as w(phase int, requests int, histograms jsonb, loads jsonb, tokens jsonb) on w.phase = n % ${PHASES.length}
     where r.id = $1`,
    [id, WINDOW_SECONDS, RECORDED_SECONDS, JSON.stringify(windows), TOKENS],
  );
  // The worker has merged these minutes already, when there was nothing in them.
  await stack.query(
    `update dataplane_record_merges set merged_until = date_trunc('hour', now() - interval '2 hours'), last_revision = null`,
  );
}

function windowOf({ bucket, requests, ttft_ms, itl_ms }: (typeof PHASES)[number], phase: number): object {
  const e2e = ttft_ms + itl_ms * (TOKENS - 1);
  const values = {
    ttft_ms,
    itl_ms,
    longest_gap_ms: 2 * itl_ms,
    e2e_latency_ms: e2e,
    output_tokens_per_s: (1_000 * TOKENS) / e2e,
  };
  const histograms = Object.entries(values).map(([metric, value]) => [metric, around(value, requests)] as const);
  return {
    phase,
    requests,
    histograms: Object.fromEntries(histograms),
    loads: {
      instances: 1,
      alone_ms: 0,
      joined: 0,
      histograms: Object.fromEntries(histograms.map(([metric, histogram]) => [metric, { [bucket]: histogram }])),
    },
    tokens: { input: around(200, requests), output: around(TOKENS, requests) },
  };
}

/** Half of the values a little below, half of them a little above. */
function around(value: number, count: number): object {
  const ends = [0.95 * value, 1.05 * value];
  return {
    n: count,
    sum: count * value,
    sq: (count / 2) * ends.reduce((sum, end) => sum + end ** 2, 0),
    b: Object.fromEntries(ends.map((end) => [Math.floor(Math.log2(end) * 8), count / 2])),
  };
}
