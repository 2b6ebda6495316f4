import { describe, expect, it } from '@jest/globals';
import type { Manifest } from './manifest.js';
import { planLines, planOf } from './plan.js';
import { manifestOf, type ServerState } from './server-state.js';

const spec = (ttft: number) => ({
  model: { id: 'm' },
  runtime: { target: 'local', engine: 'sim', args: { ttft_ms: ttft }, env: {} },
  scaling: { min_replicas: 1 },
});
const revision = (number: number, ttft: number) => ({
  id: `rev_${number}`,
  number,
  name: `chat-0000${number}`,
  spec: spec(ttft),
});

/** The state as the api answers it, without the fields that no plan reads. */
function state(more: { [K in keyof ServerState]?: any } = {}): ServerState {
  const deployment = {
    name: 'chat',
    etag: '"1"',
    display_name: null,
    labels: { a: '1' },
    revision_history_limit: 10,
    protection: { deletion: false, rollouts: 'any' },
    scaling: null,
    default_strategy: { type: 'canary', steps: [{ traffic_percent: 100, soak_seconds: 9, requires_approval: false }] },
    default_analysis: null,
    active_revision: 'chat-00001',
    candidate_revision: null,
    current_operation_id: null,
    ...more.deployment,
  };
  const route = { targets: [{ revision: 'chat-00001', weight: 100 }], affinity: { mode: 'soft', ttl_seconds: 600 } };
  return { active: revision(1, 5), route, ...more, deployment } as unknown as ServerState;
}
const plan = (manifest: Omit<Partial<Manifest>, 'spec'> & { spec?: object }, from = state()) =>
  planOf({ deployment: { name: 'chat' }, ...manifest } as Manifest, from);
const calls = (...given: Parameters<typeof plan>) => plan(...given).changes.map(({ kind }) => kind);

it('an exported file equals the state of the server', () => {
  const policy = { mode: 'off', slos: [], version: 3, etag: '"p"', deployment: 'chat' };
  for (const one of [state(), state({ policy, route: undefined }), state({ active: undefined, route: undefined })])
    expect(planOf(manifestOf(one), one).changes).toEqual([]);
  expect(manifestOf(state({ policy }))).toMatchObject({
    policy: { mode: 'off', slos: [] },
    route: { targets: [{ revision: 'self', weight: 100 }] },
  });
});

it('a deployment that does not exist is created completely', () => {
  const { changes } = plan(
    { strategy: { type: 'immediate' }, spec: spec(5), policy: {}, route: { revision: 'self' } },
    {},
  );
  expect(changes.map(({ kind }) => kind)).toEqual(['create', 'policy', 'rollout', 'route']);
  expect(changes[0]?.body).toEqual({ name: 'chat', default_strategy: { type: 'immediate' } });
  expect(changes[2]?.body).toEqual({ spec: spec(5) });
});

describe('settings', () => {
  it('only differences are sent', () => {
    const { changes } = plan({ deployment: { name: 'chat', labels: { b: '2' }, revision_history_limit: 10 } });
    expect(changes).toMatchObject([{ kind: 'update', body: { labels: { b: '2' } } }]);
    expect(calls({ deployment: { name: 'chat', labels: { a: '1' } }, strategy: { type: 'canary' } })).toEqual([]);
  });

  it('a strategy of another type begins with its own defaults', () => {
    expect(plan({ strategy: { type: 'immediate' } }).changes).toMatchObject([
      { kind: 'update', body: { default_strategy: { type: 'immediate', steps: null } } },
    ]);
    expect(plan({ strategy: null }).changes[0]?.body).toEqual({ default_strategy: null });
  });
});

describe('a spec', () => {
  it('that the active revision has needs no call, even if the file contains fewer fields of it', () => {
    expect(calls({ spec: { model: { id: 'm' }, runtime: { target: 'local', args: { ttft_ms: 5 } } } })).toEqual([]);
  });

  it('that differs is rolled out completely, with the fields that the file does not name, and names the revision that it was compared with', () => {
    const [change] = plan({ spec: { model: { id: 'm' }, runtime: { target: 'local', args: { ttft_ms: 6 } } } }).changes;
    expect(change).toMatchObject({ kind: 'rollout', body: { spec: spec(6), expected_active_revision: 'chat-00001' } });
  });

  const candidate = revision(2, 6);
  const built = { candidate_revision: 'chat-00002' };

  it('that is being rolled out is waited for, not rolled out again', () => {
    const from = state({ candidate, deployment: { ...built, current_operation_id: 'op_1' } });
    expect(plan({ spec: spec(6) }, from)).toMatchObject({
      changes: [],
      underWay: 'op_1',
      inPlace: { name: 'chat-00002' },
    });
    expect(plan({ spec: spec(5) }, from).underWay).toBeUndefined();
    expect(calls({ spec: spec(7) }, from)).toEqual(['rollout']);
  });

  it('of a candidate that was built counts as rolled out only if the strategy builds candidates', () => {
    const own = state({ candidate, deployment: { ...built, default_strategy: null } });
    expect(calls({ spec: spec(6) }, own)).toEqual([]);
    expect(calls({ spec: spec(6) }, state({ candidate, deployment: built }))).toEqual(['rollout']);
  });
});

describe('a route', () => {
  it('is the same under any name of a revision, and in any order', () => {
    const two = {
      targets: [
        { revision: 'chat-00002', weight: 10 },
        { revision: 'chat-00001', weight: 90 },
      ],
      affinity: {},
    };
    const from = state({
      route: two,
      named: new Map([
        ['2', 'chat-00002'],
        ['rev_1', 'chat-00001'],
      ]),
    });
    const targets = [
      { revision: 'rev_1', weight: 90 },
      { revision: '2', weight: 10 },
    ];
    expect(calls({ route: { targets } }, from)).toEqual([]);
    expect(calls({ spec: spec(5), route: { targets: [{ revision: 'self', weight: 90 }, targets[1]!] } }, from)).toEqual(
      [],
    );
  });

  it('of a candidate is set, and keeps the affinity that the file does not name', () => {
    const from = state({
      candidate: revision(2, 6),
      deployment: { candidate_revision: 'chat-00002', default_strategy: { type: 'candidate' } },
    });
    expect(plan({ spec: spec(6), route: { revision: 'self' } }, from).changes).toMatchObject([
      { kind: 'route', body: { targets: [{ revision: 'self', weight: 100 }], affinity: { mode: 'soft' } } },
    ]);
  });
});

it('a policy is sent completely, because the api replaces it', () => {
  const policy = { mode: 'observe', slos: [{ metric: 'ttft_ms', stat: 'p95', threshold: 5 }], version: 1, etag: '"p"' };
  const from = state({ policy });
  expect(calls({ policy: { slos: [{ metric: 'ttft_ms', threshold: 5 }] } }, from)).toEqual([]);
  expect(plan({ policy: { mode: 'off' } }, from).changes).toMatchObject([
    { kind: 'policy', body: { mode: 'off', slos: policy.slos } },
  ]);
  expect(planLines(plan({ policy: { mode: 'off' } }, from))).toEqual([
    'chat: set the policy',
    '  ~ policy.mode: "observe" -> "off"',
  ]);
});
