import type { QueueBackend } from '../../src/queue/queue-session.js';

/** A backend that accepts everything and never confirms it, as BullMQ does once its close has begun. */
export class SilentBackend implements QueueBackend {
  added = 0;
  id = 'one';
  isWorking = true;
  /** The calls that its worker received at its end. */
  readonly ending: string[] = [];
  /** Settles when the worker's running jobs have ended. */
  drained: Promise<void> = Promise.resolve();

  openQueue() {
    const { silence } = this;
    const add = () => {
      this.added += 1;
      return silence;
    };
    return {
      on: () => undefined,
      waitUntilReady: async () => undefined,
      add,
      addBulk: add,
      close: async () => undefined,
    };
  }

  async openWorker() {
    return {
      on: () => undefined,
      waitUntilReady: async () => undefined,
      isRunning: () => this.isWorking,
      pause: async () => void this.ending.push('pause'),
      close: () => {
        this.ending.push('close');
        return this.drained;
      },
      stopRenewals: async () => undefined,
      getBackend: () => ({ disconnectBlocking: async () => undefined, close: async () => undefined }),
    };
  }

  async identity(): Promise<string> {
    return this.id;
  }

  async disconnect(): Promise<void> {}

  private readonly silence = new Promise<never>(() => undefined);
}
