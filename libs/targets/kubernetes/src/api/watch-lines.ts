import { keepForeignFields } from './field-owners.js';
import type { KubeObject, ObjectMeta, Status } from './objects.js';

/** One event of a watch. An ERROR carries a Status, a BOOKMARK only a version. */
export type WatchEvent =
  { type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'; object: KubeObject } | { type: 'ERROR'; object: Status };

/** Objects are 1.5 MiB at most in etcd, and about twice that as text with their managed fields. */
const MAX_LINE_BYTES = 8 * 1024 * 1024;
const NEWLINE = 0x0a;

/** The received bytes are not an event of a watch. */
export class BrokenWatchError extends Error {
  constructor(problem: string) {
    super(`the watch ${problem}`);
    this.name = 'BrokenWatchError';
  }
}

/**
 * The events in the bytes of a watch, which arrive in pieces of any size.
 *
 * @param onBytes called for each piece, with or without an event
 * @throws BrokenWatchError if a line is not an event or is too long
 */
export async function* eventsOf(
  pieces: AsyncIterable<Uint8Array>,
  onBytes: () => void,
  maxLineBytes = MAX_LINE_BYTES,
): AsyncGenerator<WatchEvent> {
  let parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of pieces) {
    onBytes();
    let rest = piece;
    for (let end = rest.indexOf(NEWLINE); end !== -1; end = rest.indexOf(NEWLINE)) {
      const line = Buffer.concat([...parts, rest.subarray(0, end)]);
      parts = [];
      bytes = 0;
      rest = rest.subarray(end + 1);
      if (line.length > 0) yield eventIn(line.toString('utf8'));
    }
    bytes += rest.length;
    if (bytes > maxLineBytes) throw new BrokenWatchError(`sent an event longer than ${maxLineBytes} bytes`);
    if (rest.length > 0) parts.push(rest);
  }
}

const TYPES = new Set(['ADDED', 'MODIFIED', 'DELETED']);

function eventIn(line: string): WatchEvent {
  const event = parsed(line) as Partial<WatchEvent> | null;
  const object = event?.object as Partial<KubeObject> | undefined;
  if (event?.type === 'ERROR' && typeof object === 'object' && object !== null) return event as WatchEvent;
  const metadata = object?.metadata;
  if (typeof metadata?.resourceVersion !== 'string') throw new BrokenWatchError('sent an event without an object');
  if (event?.type === 'BOOKMARK') return event as WatchEvent;
  if (!TYPES.has(event?.type ?? '')) throw new BrokenWatchError('sent an event of an unknown type');
  if (typeof metadata.name !== 'string' || typeof metadata.uid !== 'string')
    throw new BrokenWatchError('sent an object without name and uid');
  keepForeignFields(metadata as ObjectMeta);
  return event as WatchEvent;
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw new BrokenWatchError('sent a line that is not JSON');
  }
}
