import fastJsonPatch, { type Operation } from 'fast-json-patch';

/** RFC 6902: what turns one document into another; a whole new one if there was none. */
export function jsonPatch(from: object | undefined, to: object): Operation[] {
  return from ? fastJsonPatch.compare(from, to) : [{ op: 'add', path: '', value: to }];
}
