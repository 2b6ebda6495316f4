import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Database } from '@slipway/platform-database';
import { Egress } from '@slipway/platform-egress';
import { BLOB_STORE, type BlobStore } from '../src/storage/blob-store.js';

/**
 * Watches every call of the workspace store and every request to another host.
 * @returns those that were made while a transaction was open in the chain of calls that made them; nothing may be among them
 */
export function watchOutside(app: NestFastifyApplication): string[] {
  const found: string[] = [];
  const nesting = app.get(Database, { strict: false })['nesting'];
  const note = (what: string): void => {
    try {
      nesting.assertOutside();
    } catch {
      found.push(what);
    }
  };
  const store = app.get<BlobStore>(BLOB_STORE, { strict: false });
  for (const name of ['write', 'read', 'remove'] as const) {
    const call = store[name].bind(store) as (...args: unknown[]) => Promise<never>;
    store[name] = (...args: unknown[]) => {
      note(`store.${name}`);
      return call(...args);
    };
  }
  const egress = app.get(Egress, { strict: false });
  const dispatcherOf = egress.dispatcher.bind(egress);
  egress.dispatcher = (allow) =>
    dispatcherOf(allow).compose((dispatch) => (options, handler) => {
      note(`${options.method} ${options.path}`);
      return dispatch(options, handler);
    });
  return found;
}
