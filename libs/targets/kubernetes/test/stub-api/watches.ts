import type { ServerResponse } from 'node:http';
import type { KubeObject, Status } from '../../src/api/objects.js';
import { selects, type Labels } from './label-selector.js';
import type { StoredChange } from './object-store.js';

interface Watch {
  response: ServerResponse;
  plural: string;
  namespace: string;
  matches: (labels: Labels) => boolean;
  hasBookmarks: boolean;
  isFrozen: boolean;
  timer: NodeJS.Timeout;
}

export interface WatchRequest {
  plural: string;
  namespace: string;
  labelSelector?: string;
  hasBookmarks: boolean;
  timeoutSeconds: number;
}

/** All open watches, and the actions on all of them. */
export class Watches {
  private readonly open = new Set<Watch>();

  get count(): number {
    return this.open.size;
  }

  /** @param missed the changes since the client's version */
  add(response: ServerResponse, asked: WatchRequest, missed: readonly StoredChange[]): void {
    const { plural, namespace, labelSelector, hasBookmarks, timeoutSeconds } = asked;
    const timer = setTimeout(() => this.end(watch), timeoutSeconds * 1000);
    const matches = selects(labelSelector);
    const watch: Watch = { response, plural, namespace, matches, hasBookmarks, isFrozen: false, timer };
    this.open.add(watch);
    response.on('close', () => this.forget(watch));
    // A write into a connection that is just closing.
    response.on('error', () => undefined);
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    for (const written of missed) this.show(watch, written);
  }

  tell(written: StoredChange): void {
    for (const watch of this.open) this.show(watch, written);
  }

  bookmark(version: string): void {
    const object = { kind: 'Bookmark', metadata: { resourceVersion: version, creationTimestamp: null } };
    for (const watch of this.open) if (watch.hasBookmarks) this.send(watch, 'BOOKMARK', object);
  }

  fail(status: Status): void {
    for (const watch of this.open) {
      this.send(watch, 'ERROR', status);
      this.end(watch);
    }
  }

  replay(plural: string, type: string, object: KubeObject): void {
    for (const watch of this.open) if (watch.plural === plural) this.send(watch, type, object);
  }

  inject(bytes: string | Uint8Array): void {
    for (const { response } of this.open) response.write(bytes);
  }

  freeze(): void {
    for (const watch of this.open) watch.isFrozen = true;
  }

  cut(): void {
    for (const watch of this.open) {
      this.forget(watch);
      watch.response.socket?.destroy();
    }
  }

  endAll(): void {
    for (const watch of this.open) this.end(watch);
  }

  private end(watch: Watch): void {
    if (watch.isFrozen) return;
    this.forget(watch);
    watch.response.end();
  }

  private forget(watch: Watch): void {
    clearTimeout(watch.timer);
    this.open.delete(watch);
  }

  private show(watch: Watch, { plural, namespace, before, after, last }: StoredChange): void {
    if (plural !== watch.plural || (watch.namespace !== '' && namespace !== watch.namespace)) return;
    const was = before !== undefined && watch.matches(before.metadata.labels);
    const is = after !== undefined && watch.matches(after.metadata.labels);
    if (is) this.send(watch, was ? 'MODIFIED' : 'ADDED', after);
    // An object that no longer matches the selector is deleted for its watch.
    else if (was) this.send(watch, 'DELETED', last);
  }

  private send(watch: Watch, type: string, object: unknown): void {
    if (!watch.isFrozen) watch.response.write(`${JSON.stringify({ type, object })}\n`);
  }
}
