import { METHODS } from 'node:http';

/**
 * Requests with a method that Node's parser does not know. HTTP has an open set of methods, in which case matters
 * (RFC 9110, 9.1): `PURGE` and `get` are well-formed. Node knows a list of them, and calls any other request invalid.
 */

/** Input that Node's parser refused. */
export interface RefusedInput {
  code?: string;
  /** The bytes that it was reading. */
  rawPacket?: Uint8Array;
}

export interface RequestLine {
  method: string;
  /** Path and query. */
  target: string;
}

/** No longer request line is read. Node's own limit is 16 KiB for all headers. */
const MOST_BYTES = 16_384;
const REQUEST_LINE = /^([!#$%&'*+.^_`|~\w-]{1,64}) (\/[!-~]*) HTTP\/1\.[01]\r?\n/;

/**
 * Returns the line of a request that was refused only for its method; undefined if anything else was wrong. A packet
 * that does not begin with a request line belongs to the body of an earlier request, or is no HTTP. One that begins with
 * a known method has the refused request after another one.
 */
export function lineOfUnknownMethod({ code, rawPacket }: RefusedInput): RequestLine | undefined {
  if (code !== 'HPE_INVALID_METHOD' || !rawPacket) return undefined;
  const text = new TextDecoder('latin1').decode(rawPacket.subarray(0, MOST_BYTES));
  const [, method, target] = REQUEST_LINE.exec(text) ?? [];
  if (method === undefined || target === undefined || METHODS.includes(method)) return undefined;
  return { method, target };
}
