import { Slipway } from '@slipway/sdk';
import { chat } from './chat.js';
import type { Narrator, OperationProgress } from './narrator.js';

export interface DemoOptions {
  apiUrl: string;
  gatewayUrl: string;
  token: string;
  narrator: Narrator;
}

/** Marks the deployments of this demo, so that its next run can remove them and no others. */
const LABEL = { key: 'slipway.dev/demo', value: 'quickstart' };
export const LABELS = { [LABEL.key]: LABEL.value };

/** Limit for an operation, from its start to its end. */
const OPERATION_MS = 120_000;
const POLL_MS = 250;
/** About fifteen seconds: how long a restarting api may be unavailable. */
const MAX_RETRIES = 6;

const SIMULATED = { target: 'local', engine: 'sim' };

/** The stack of this machine is called directly, whatever proxies the environment names. */
export function demoClient({ apiUrl, token }: Pick<DemoOptions, 'apiUrl' | 'token'>): Slipway {
  return new Slipway({ baseUrl: apiUrl, token, maxRetries: MAX_RETRIES, fetch: globalThis.fetch });
}

/**
 * Does the main job as a client does it: creates a deployment, proves that a first revision is ready, routes to it,
 * sends a request, rolls out a second revision, and rolls back.
 * @returns the name of the deployment
 * @throws Error at the first unexpected result
 */
export async function demonstrate({ apiUrl, gatewayUrl, token, narrator }: DemoOptions): Promise<string> {
  const { deployments, operations } = demoClient({ apiUrl, token });
  const watched = async ({ operation }: { operation: { id: string } }): Promise<void> => {
    const onStep = (_: unknown, now: OperationProgress): void => narrator.operation(now);
    await operations.wait(operation.id, { onStep, limitMs: OPERATION_MS, pollMs: POLL_MS });
  };
  // The `model` of the answer is the requested name; a header of the gateway names the model that served it.
  const ask = async (question: string, expected: string): Promise<void> => {
    const answer = await chat(gatewayUrl, token, name, question);
    narrator.line(`  "${shorten(answer.text)}"`);
    narrator.line(
      `  first token after ${Math.round(answer.firstTokenMs)} ms, ${answer.tokens || 'all'} tokens in ${Math.round(answer.totalMs)} ms, served by ${answer.revision}`,
    );
    if (answer.revision !== expected)
      throw new Error(`expected a response from ${expected}, but ${answer.revision} responded`);
  };

  await removeEarlier(deployments);
  const name = `quickstart-${Date.now().toString(36)}`;

  narrator.heading(`1. Create a deployment (${name})`);
  await deployments.create({ name, display_name: 'Quickstart', labels: LABELS });
  narrator.line('  created; it serves nothing yet');

  narrator.heading('2. Roll out a first revision: start its model server and wait until it is ready');
  await watched(
    await deployments.rollouts.create(name, {
      spec: { model: { id: 'demo-small' }, runtime: { ...SIMULATED, args: { ttft_ms: 120, itl_ms: 15, tokens: 24 } } },
      strategy: { type: 'candidate' },
      reason: 'quickstart: first revision',
    }),
  );
  const first = (await deployments.get(name)).candidate_revision;
  if (!first) throw new Error('the rollout succeeded, but the deployment has no candidate');

  narrator.heading(`3. Send traffic to ${first}`);
  await deployments.route.set(name, { revision: first, reason: 'quickstart' });
  narrator.line('  PUT route: 100 %');

  narrator.heading('4. Send a request through the gateway');
  await ask('What is a slipway?', first);

  narrator.heading('5. Roll out a second revision: a faster model, which gets all traffic once it is ready');
  await watched(
    await deployments.rollouts.create(name, {
      spec_patch: { model: { id: 'demo-large' }, runtime: { args: { ttft_ms: 40, itl_ms: 5 } } },
      strategy: { type: 'immediate' },
      reason: 'quickstart: second revision',
    }),
  );
  const second = (await deployments.get(name)).active_revision;
  if (!second || second === first) throw new Error(`the rollout succeeded, but ${second ?? 'no revision'} is active`);
  await ask('And what is it good for?', second);

  narrator.heading('6. Roll back');
  await watched(await deployments.rollbacks.create(name, { reason: 'quickstart: roll back' }));
  await ask('Who answers now?', first);
  return name;
}

/**
 * Each demo leaves two model servers running; this removes those of the previous one. The demo continues if this fails.
 */
async function removeEarlier(deployments: Slipway['deployments']): Promise<void> {
  const { data } = await deployments.list({ label: `${LABEL.key}=${LABEL.value}`, limit: 200 });
  await Promise.all(data.map(({ name }) => deployments.delete(name, { maxRetries: 0 }).catch(() => undefined)));
}

function shorten(text: string): string {
  const flat = text.replace(/\s+/g, ' ').trim();
  return flat.length > 72 ? `${flat.slice(0, 71)}…` : flat;
}
