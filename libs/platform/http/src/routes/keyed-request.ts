import { currentRequest, type IdempotencyClaim, type RequestKey, type Warning } from '../context/request-context.js';
import type { Reply } from '../answers/reply.js';

/** Finds the stored answer to an earlier request with the same claim. */
export type FindEarlierAnswer = (claim: IdempotencyClaim) => Promise<Reply | undefined>;

/** The answer to the first request with a key, which ends every later one wherever it is found. */
export class EarlierAnswer extends Error {
  constructor(readonly reply: Reply) {
    super('An earlier request with this Idempotency-Key has an answer.');
  }
}

/** The warning of a mutation whose key had no effect. */
export const KEY_IGNORED: Warning = {
  code: 'idempotency_key_ignored',
  field: 'Idempotency-Key',
  message: 'This operation does not accept Idempotency-Key; the key had no effect.',
};

/** The `Idempotency-Key` of a request. The code that stores the answer takes its claim, once. */
export class KeyedRequest implements RequestKey {
  private isTaken = false;

  /** @param find undefined if no answer is stored before the handler runs, as for a rehearsal */
  constructor(
    private readonly claim: IdempotencyClaim,
    private readonly find?: FindEarlierAnswer,
  ) {}

  take(): IdempotencyClaim | undefined {
    if (this.isTaken) return undefined;
    this.isTaken = true;
    return this.claim;
  }

  /**
   * The earlier answer is looked up before the handler, because checks before its mutation may fail by now: the address
   * of a webhook may resolve no longer. The mutation looks again.
   */
  async answer(handle: () => unknown): Promise<unknown> {
    const earlier = this.isTaken ? undefined : await this.find?.(this.claim);
    if (earlier) return earlier;
    try {
      const answer = await handle();
      if (!this.isTaken) currentRequest()?.warnings.push(KEY_IGNORED);
      return answer;
    } catch (thrown) {
      if (thrown instanceof EarlierAnswer) return thrown.reply;
      throw thrown;
    }
  }
}

/** Makes a handler answer repeated requests. Its parameters have been read by then, so a repeat warns like the first. */
export function obeyKey(_target: object, _name: string | symbol, descriptor: PropertyDescriptor): void {
  const handle = descriptor.value as (...parameters: unknown[]) => unknown;
  function answer(this: unknown, ...parameters: unknown[]): unknown {
    const keyed = currentRequest()?.keyed;
    return keyed ? keyed.answer(() => handle.apply(this, parameters)) : handle.apply(this, parameters);
  }
  for (const key of Reflect.getMetadataKeys(handle))
    Reflect.defineMetadata(key, Reflect.getMetadata(key, handle), answer);
  descriptor.value = Object.defineProperty(answer, 'name', { value: handle.name });
}
