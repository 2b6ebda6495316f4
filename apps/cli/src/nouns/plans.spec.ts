import { expect, it } from '@jest/globals';
import { runCommand } from '../../test/run-command.js';

const plan = (rollout: object | undefined, more: object = {}) => ({
  id: 'plan_1',
  deployment: 'chat',
  summary: 'two replicas',
  content_digest: 'sha256:1',
  approval: { state: 'pending', approvals: [{ by: { type: 'person', id: 'per_2', name: 'bob' } }], ended: null },
  created_by: { type: 'token', id: 'tok_1', name: 'ci' },
  ...(rollout && 'is_gated' in rollout ? { execution: rollout, rollout: {} } : { rollout }),
  ...more,
});
const canary = {
  strategy: {
    type: 'canary',
    steps: [
      { traffic_percent: 10, soak_seconds: 60, requires_approval: true },
      { traffic_percent: 100, soak_seconds: 60, requires_approval: false },
    ],
  },
  analysis: { metrics: [{ name: 'error_rate', stat: 'rate', check: 'threshold', threshold: 0.02 }], guards: [{}, {}] },
  target: 'local',
  is_gated: true,
};
const immediate = { strategy: { type: 'immediate', steps: [] }, analysis: null, target: 'local', is_gated: false };

const shown = async (rollout: object | undefined, ...words: string[]) => {
  const [show = 'show'] = words;
  const one = plan(rollout);
  const fetch = async () => Response.json(show === 'list' ? { data: [one], next_cursor: null } : one);
  return runCommand(['plans', show, ...(show === 'show' ? ['plan_1'] : [])], { fetch });
};

it('shows how a plan will be rolled out, and its actors by name', async () => {
  const { stdout, stderr } = await shown(canary);
  expect(stderr).toBe('');
  for (const line of [
    /^STRATEGY +canary 10, 100 %$/m,
    /^STEPS +10 % for 60 s, then an approval; 100 % for 60 s$/m,
    /^GATE +error_rate <= 2 %, 2 guards$/m,
    /^TARGET +local$/m,
    /^BY +ci$/m,
    /^DECIDED BY +bob$/m,
  ])
    expect(stdout).toMatch(line);
  expect((await shown(canary, 'list')).stdout).toMatch(/ canary 10, 100 % +error_rate <= 2 %, 2 guards +local +ci /);
});

it('marks a plan that moves all traffic at once without a gate', async () => {
  const { stdout, stderr } = await shown(immediate);
  expect(stdout).toMatch(/^GATE +NONE: all traffic at once$/m);
  expect(stderr).toBe('Warning: This plan moves all traffic at once, and no gate judges the new revision.\n');
  expect((await shown(immediate, 'list')).stdout).toContain('NONE: all traffic at once');
});

it('shows a plan of an older api, which has only the body of the rollout', async () => {
  for (const rollout of [undefined, { spec_patch: {} }, { strategy: { type: 'immediate' } }, { strategy: 7 }]) {
    const { code, stdout, stderr } = await shown(rollout);
    expect([code, stderr, stdout]).toEqual([0, '', expect.stringMatching(/^GATE +-$/m)]);
  }
});

it('shows the approver what they approve, and approves exactly that', async () => {
  const sent: unknown[] = [];
  let digest = 'sha256:1';
  const fetch: typeof globalThis.fetch = async (_url, init) => {
    if (init?.method === 'POST') sent.push(JSON.parse(String(init.body)));
    return Response.json(plan(immediate, { content_digest: digest }));
  };
  const approve = (...more: string[]) =>
    runCommand(['plans', 'approve', 'plan_1', ...more], { fetch, columns: 100, stdin: 'y\n' });
  const { code, stderr } = await approve();
  expect([code, sent]).toEqual([0, [{ plan_digest: 'sha256:1' }]]);
  expect(stderr).toMatch(/Strategy: immediate\nGate: none\nTarget: local\n.*no gate judges[^]*approve plan_1\?/);
  digest = 'sha256:2';
  await approve('--plan-digest', 'sha256:1', '--comment', 'go');
  expect(sent.at(-1)).toEqual({ plan_digest: 'sha256:1', comment: 'go' });
});
