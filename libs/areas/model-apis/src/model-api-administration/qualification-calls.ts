import { endpointUrls, type RevisionSpec } from '@slipway/contracts';
import { Inject, Injectable } from '@nestjs/common';
import { Database } from '@slipway/platform-database';
import { operationFailures, StepFailed } from '@slipway/platform-durable/operations';
import { INSTANCES, type AdoptedServer, type InstancesPort } from '@slipway/ports/instances';
import { REVISIONS, type RevisionsPort } from '@slipway/ports/revisions';
import { runCheck, type CallResult, type QualificationCheck } from '@slipway/target-driver/qualification';
import { BindingEntity } from './binding.entity.js';
import { ProductEntity } from './product.entity.js';
import { LONGEST_URL_SHOWN, QualifiedTarget, type CallableBinding, type CallableInstance } from './qualified-target.js';

/** Injection token: replaces the idle time-out of the calls in tests that wait for it. */
export const CALL_IDLE_TIMEOUT = Symbol('CALL_IDLE_TIMEOUT');

/** Most instances of one revision. */
const MAX_CALLED = 32;
const CONCURRENT_CALLS = 4;
/** After this time no call of a check begins, because a worker waits for it. */
const MAX_CHECK_MS = 600_000;
/** Most failed instances in a message. */
const MAX_SHOWN = 4;

const NO_INSTANCE_RESULT: CallResult = {
  result: 'failed',
  message: 'the revision has no ready instance',
  isOutage: true,
  isSilent: false,
  durationMs: 0,
};

/** A target that hangs once would block a worker again on each further call. */
export const SILENT_TARGET_RESULT: CallResult = {
  ...NO_INSTANCE_RESULT,
  message: 'not called, because the target did not respond to an earlier call',
};

/** A target that requests a long wait is not called again before it is over. */
export const WAITING_TARGET_RESULT: CallResult = {
  ...NO_INSTANCE_RESULT,
  message: 'not called, because the target requested a longer wait after an earlier call',
};

/** The fields of a binding that its qualification needs. */
export interface QualificationSubject {
  tenantId: string;
  bindingId: string;
  /** Null for a supplier. */
  revisionId: string | null;
}

/** The calls of a qualification: chooses the instances for a check, and combines their answers. */
@Injectable()
export class QualificationCalls {
  constructor(
    private readonly database: Database,
    private readonly target: QualifiedTarget,
    @Inject(REVISIONS) private readonly revisions: RevisionsPort,
    @Inject(INSTANCES) private readonly instances: InstancesPort,
  ) {}

  /** Returns every instance that can be called now. */
  async ready(qualified: QualificationSubject): Promise<CallableInstance[]> {
    return this.target.of(await this.binding(qualified));
  }

  /** @param called ids of the instances that were chosen when the qualification began */
  async check(
    name: QualificationCheck,
    qualified: QualificationSubject,
    { called = [], signal }: { called?: readonly string[]; signal: AbortSignal },
  ): Promise<CallResult> {
    const ready = await this.ready(qualified);
    const chosen = ready.filter(({ id }) => called.includes(id));
    const instances = chosen.length > 0 ? chosen : ready.slice(0, 1);
    if (instances.length === 0) return NO_INSTANCE_RESULT;
    const spec = await this.spec(qualified);
    const traits = spec && this.instances.traits(spec);
    const isAdopted = spec?.endpoint !== undefined;
    const promisedContext = await this.promisedContext(qualified);
    const isNamed = instances.length > 1 || endpointUrls(spec?.endpoint).length > 1;
    // A spec shows the URLs that it adopts, and no other address.
    const nameOf = ({ id, baseUrl }: CallableInstance) => (isAdopted ? baseUrl.slice(0, LONGEST_URL_SHOWN) : id);
    return callEach(
      instances,
      (target) => runCheck(name, { target, traits, isAdopted, promisedContext, signal }),
      isNamed ? nameOf : undefined,
    );
  }

  private async spec({ revisionId }: QualificationSubject): Promise<RevisionSpec | undefined> {
    if (revisionId === null) return undefined;
    const [revision] = await this.database.tx('system', (tx) => this.revisions.getMany(tx, [revisionId]));
    return revision?.spec;
  }

  private async promisedContext({ tenantId: tenant_id, bindingId: id }: QualificationSubject): Promise<number | null> {
    return this.database.tx('system', async (tx) => {
      const binding = await tx
        .repository(BindingEntity)
        .findOne({ select: { product_id: true }, where: { tenant_id, id } });
      const product = await tx.repository(ProductEntity).findOneBy({ tenant_id, id: binding?.product_id ?? '' });
      return product?.context_length ?? null;
    });
  }

  /** Includes the credential, which the calls need. */
  private async binding({ tenantId, bindingId }: QualificationSubject): Promise<CallableBinding> {
    const binding = await this.database.tx('system', (tx) =>
      tx
        .repository(BindingEntity)
        .findOne({
          select: { id: true, tenant_id: true, target: true, revision_id: true, credential: true },
          where: { tenant_id: tenantId, id: bindingId },
        }),
    );
    if (!binding)
      throw new StepFailed(operationFailures.validation_failed, 'The binding no longer exists.', { retryable: false });
    return binding;
  }
}

/**
 * Runs one check of all these instances, a few concurrently. The check fails if it fails for one of them, and passes if
 * it passes for each. If they have names, the message says which. If one is silent or all take too long, the rest are
 * not called.
 */
async function callEach(
  instances: readonly CallableInstance[],
  call: (instance: CallableInstance) => Promise<CallResult>,
  nameOf: ((instance: CallableInstance) => string) | undefined,
): Promise<CallResult> {
  const waiting = [...instances.entries()];
  const results: CallResult[] = [];
  const endAt = performance.now() + MAX_CHECK_MS;
  let isOver = false;
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const [at, instance] = next;
      const result = isOver ? SILENT_TARGET_RESULT : await call(instance);
      isOver ||= result.isSilent || performance.now() > endAt;
      results[at] = nameOf ? { ...result, message: `${nameOf(instance)}: ${result.message}` } : result;
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT_CALLS }, work));
  return combine(results);
}

function combine(results: readonly CallResult[]): CallResult {
  const failed = results.filter(({ result }) => result === 'failed');
  const untold = results.filter(({ result }) => result === 'not_applicable');
  const waits = failed.flatMap(({ retryAfterMs }) => retryAfterMs ?? []);
  const telling = [failed, untold, results].find(({ length }) => length > 0)!;
  const more = telling.length > MAX_SHOWN ? `; and ${telling.length - MAX_SHOWN} more` : '';
  const shown = telling.slice(0, MAX_SHOWN).map(({ message }) => message);
  return {
    result: telling[0]!.result,
    message: `${shown.join('; ')}${more}`,
    isOutage: failed.some(({ isOutage }) => isOutage),
    isSilent: results.some(({ isSilent }) => isSilent),
    durationMs: Math.max(...results.map(({ durationMs }) => durationMs)),
    ...(waits.length > 0 && { retryAfterMs: Math.max(...waits) }),
  };
}

/** Returns the instances of which only the name is known; if each is known to have the model, one of them. */
export function instancesToCall(ready: readonly CallableInstance[], servers: readonly AdoptedServer[]): string[] {
  const known = new Set(servers.filter(({ model }) => model === 'seen').map(({ instanceId }) => instanceId));
  const ids = ready.map(({ id }) => id);
  const unknown = ids.filter((id) => !known.has(id));
  return (unknown.length > 0 ? unknown : ids.slice(0, 1)).slice(0, MAX_CALLED);
}
