import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Database } from '@slipway/platform-database';
import { Egress } from '@slipway/platform-egress';
import { BLOB_STORE, type BlobStore } from '../src/storage/blob-store.js';

/**
 * Watches every call of the workspace store and every request to another host.
 * @returns the calls made while their chain of calls had a transaction open; must stay empty
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
