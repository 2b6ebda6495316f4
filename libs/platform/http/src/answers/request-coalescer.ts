import { setImmediate as nextTurn } from 'node:timers/promises';
import { currentRequest } from '../context/request-context.js';
import type { RawJson } from './reply.js';

/**
 * Gives one answer to equal requests of one turn of the event loop, so that many watchers of a list cost little more
 * than one.
 * The answer is made after all of them have arrived, and it is not kept. So no request receives a state that is older
 * than itself.
 */
export class RequestCoalescer {
  private readonly open = new Map<string, Promise<RawJson>>();

  /**
   * @param question everything that the answer depends on, except the route and the tenant
   * @param make makes the answer; runs in the context of the first of the requests
   */
  answer(tenantId: string, question: readonly unknown[], make: () => Promise<RawJson>): Promise<RawJson> {
    const key = JSON.stringify([currentRequest()?.route?.operationId, tenantId, ...question]);
    const open = this.open.get(key);
    if (open) return open;
    const answer = nextTurn().then(() => {
      this.open.delete(key);
      return make();
    });
    this.open.set(key, answer);
    return answer;
  }
}
