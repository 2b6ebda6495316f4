import { createHash } from 'node:crypto';
import type { BodyOf, Slipway } from '@slipway/sdk';
import { confirmedFor } from '../confirmation.js';
import { toldKey } from '../idempotency-key.js';
import { noStrategyLine } from '../nouns/default-strategy.js';
import { watchOperation } from '../progress/watch.js';
import type { Session } from '../session.js';
import { harmless } from '../terminal.js';
import { showWarnings } from '../warnings.js';
import type { Manifest } from './manifest.js';
import { planLines, planOf, type Change, type Plan } from './plan.js';
import { serverState, type ServerState } from './server-state.js';

export interface ApplyResult {
  name: string;
  outcome: 'created' | 'changed' | 'unchanged';
  changes: string[];
  revision: string | null;
  operation_id: string | null;
}

export interface ApplyOptions {
  waits: boolean;
  timeoutMs?: number;
}

/** The revisions that a file refers to, except the revision of its own spec. */
export function referencesOf({ route }: Manifest): string[] {
  const all = [route?.revision, ...(route?.targets ?? []).map(({ revision }) => revision)];
  return [...new Set(all.filter((one) => one !== undefined && one !== 'self'))] as string[];
}

/**
 * Makes the calls that are still needed. If it is interrupted between two calls, the next run continues: it decides
 * each call from the state of the server, and the key of the rollout stays the same until the deployment changes.
 */
export async function apply(
  session: Session,
  manifest: Manifest,
  { waits, timeoutMs }: ApplyOptions,
): Promise<ApplyResult> {
  const { signal } = session;
  const slipway = await session.client();
  const { name } = manifest.deployment;
  const look = () => serverState(slipway, name, { signal, references: referencesOf(manifest) });
  const found = await look();
  const plan = planOf(manifest, found);
  for (const line of planLines(plan)) session.note(harmless(line));
  warnOfNoStrategy(session, plan);
  if (plan.changes.length > 0) await confirmedFor(found.deployment?.environment ?? null, name, session);
  const made = new ApplyRun(session, slipway, name, found);
  for (const change of plan.changes) if (change.kind !== 'route') await made.make(change);
  const operationId = made.operationId ?? plan.underWay;
  let revision = made.revision ?? plan.inPlace?.name ?? null;
  if (operationId && waits) {
    const ended = await watchOperation(session, operationId, { limitMs: timeoutMs });
    revision = String(ended.result['revision'] ?? revision);
  }
  const hasRoute = plan.changes.some(({ kind }) => kind === 'route');
  if (hasRoute && operationId && !waits)
    session.note(`${name}: the route is not set yet: apply the file again after the rollout ends`);
  else if (hasRoute) {
    // The rollout has moved the traffic itself, or has made the revision that the route names.
    const now = operationId ? await look() : found;
    const after = planOf(manifest, now);
    for (const change of after.changes)
      if (change.kind === 'route') await made.setRoute(change, now, after.inPlace?.name ?? revision);
  }
  const { changes } = made;
  const outcome = changes.length === 0 ? 'unchanged' : found.deployment ? 'changed' : 'created';
  return { name, outcome, changes, revision, operation_id: operationId ?? null };
}

/** Names the consequence of a rollout without a strategy, before it starts. A route in the file moves the traffic. */
export function warnOfNoStrategy(session: Session, { name, changes, strategy }: Plan): void {
  const has = (kind: Change['kind']) => changes.some((change) => change.kind === kind);
  if (has('rollout') && !has('route') && strategy == null) session.output.warn(noStrategyLine(name));
}

/** Makes the calls of one deployment, in their order. */
class ApplyRun {
  readonly changes: string[] = [];
  operationId: string | undefined;
  revision: string | undefined;
  private etag: string | undefined;

  constructor(
    private readonly session: Session,
    private readonly slipway: Slipway,
    private readonly name: string,
    private readonly found: ServerState,
  ) {
    this.etag = found.deployment?.etag;
  }

  async make({ kind, body }: Change): Promise<void> {
    const { deployments } = this.slipway;
    const { signal } = this.session;
    switch (kind) {
      case 'create':
        this.etag = this.shown(await deployments.create(body as BodyOf<'createDeployment'>, { signal })).etag;
        break;
      case 'update':
        this.etag = this.shown(await deployments.update(this.name, body, { signal })).etag;
        break;
      case 'policy':
        this.shown(await deployments.policy.set(this.name, body, { signal, ifMatch: this.found.policy?.etag }));
        break;
      case 'rollout':
        await this.rollOut(body);
        break;
      case 'route':
        return;
    }
    this.changes.push(kind);
  }

  private async rollOut(body: BodyOf<'createRollout'>): Promise<void> {
    const key = toldKey(this.session, keyOf(this.name, this.etag, body));
    const { signal } = this.session;
    const { rollouts } = this.slipway.deployments;
    const { operation } = this.shown(await rollouts.create(this.name, body, { signal, idempotencyKey: key }));
    this.operationId = operation.id;
    this.revision = String(operation.result['revision'] ?? '') || undefined;
  }

  async setRoute({ body }: Change, { route }: ServerState, self: string | null): Promise<void> {
    const { signal } = this.session;
    const options = { signal, ifMatch: route?.etag };
    this.shown(await this.slipway.deployments.route.set(this.name, withSelf(body, self), options));
    this.changes.push('route');
  }

  /** Returns the answer, after it has printed the warnings in it. */
  private shown<Answer>(answer: Answer): Answer {
    showWarnings(this.session, answer);
    return answer;
  }
}

export function withSelf(body: BodyOf<'setRoute'>, self: string | null): BodyOf<'setRoute'> {
  const targets = body.targets?.map((one) => (one.revision === 'self' && self ? { ...one, revision: self } : one));
  return { ...body, targets };
}

/** The key changes with the deployment, so that a failed rollout can be requested again. */
const keyOf = (...about: unknown[]): string =>
  `apply-${createHash('sha256').update(JSON.stringify(about)).digest('hex')}`;

/** Runs all checks of the api that write nothing. `told` lists what the api cannot check yet. */
export async function rehearse(session: Session, plan: Plan, state: ServerState): Promise<string[]> {
  const { signal } = session;
  const { name, inPlace } = plan;
  const { deployments } = await session.client();
  const told: string[] = [];
  for (const { kind, body } of plan.changes) {
    const rehearsed = async () => {
      if (kind === 'create') return deployments.rehearseCreate(body as BodyOf<'createDeployment'>, { signal });
      if (!state.deployment) return `${kind} can be checked after the deployment is created`;
      if (kind === 'update') return deployments.rehearseUpdate(name, body, { signal });
      if (kind === 'policy') return deployments.policy.rehearse(name, body, { signal });
      if (kind === 'rollout') {
        // The stored deployment still has its previous strategy and gates.
        const { strategy, gates } = plan as { strategy?: object; gates?: object };
        const asked = { ...body, ...(strategy && { strategy }), ...(gates && { analysis: gates }) };
        return deployments.rollouts.rehearse(name, asked as BodyOf<'createRollout'>, { signal });
      }
      const isWaiting = plan.changes.some((one) => one.kind === 'rollout') || plan.underWay !== undefined;
      if (isWaiting) return 'route can be checked after the rollout ends';
      return deployments.route.rehearse(name, withSelf(body, inPlace?.name ?? null), { signal });
    };
    const answer = await rehearsed();
    if (typeof answer === 'string') told.push(`${name}: ${answer}`);
    else {
      showWarnings(session, answer);
      const steps = answer.steps.length > 0 ? `: ${answer.steps.join(', ')}` : '';
      told.push(`${name}: the server would ${answer.would}${steps}`);
    }
  }
  return told;
}
