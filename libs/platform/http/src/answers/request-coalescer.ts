import { setImmediate as nextTurn } from 'node:timers/promises';
import { currentRequest } from '../context/request-context.js';
import type { RawJson } from './reply.js';

/**
 * Requests that ask for the same in one turn of the event loop are given one answer: many who watch one list cost little more than one does.
 * It is made after all of them have asked and is not kept, so that nobody is told what stood before its own request.
 */
export class RequestCoalescer {
  private readonly open = new Map<string, Promise<RawJson>>();

  /**
   * @param question all that the answer depends on, beside the route and the tenant
   * @param make the answer; runs in the context of the request that asked first
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
