import type { Bed } from './bed.js';

/** A request to one operation. Without a body it has none; the token is the bootstrap token unless given. */
export interface ContractRequest {
  params?: Record<string, string>;
  query?: Record<string, string>;
  body?: Record<string, unknown>;
  headers?: Record<string, string>;
  token?: string;
}

/**
 * How to ask one operation so that it does what it is for. Each area has a row for each of its operations, in
 * `test/contract-rows.ts`; the suites of apps/api ask all of them: contract, fuzz, authorization, idempotency, audit.
 */
export interface Row {
  /** The status of that. */
  status: number;
  /** Makes what the least valid request needs, and the request. Each call gives one that has not been sent before. */
  valid: (bed: Bed) => Promise<ContractRequest>;
  /**
   * Why no resource of another tenant can be reached, if the path names none. If it names one, the valid request is
   * sent as a stranger, too, and must find nothing.
   */
  tenancy?: string;
  /** What the document's example answers on a fresh stack where it cannot succeed. A path that holds an id answers 404 anyway. */
  example?: { status: number; why: string };
  /** What the audit calls it. Every mutation has one. */
  audit?: string;
  /** The body with every nested object in it, from the least body. Needed if the schema has nested objects. */
  full?: (body: Record<string, unknown>) => Record<string, unknown>;
  /** Needed if the operation accepts `Idempotency-Key`. */
  keyed?: KeyedRow;
  /** Nested objects that cannot stand beside the others, such as alternatives. */
  apart?: string[];
  /** Fields that a rule about several fields refuses with the code of a bound. */
  related?: string[];
}

/** How the effects of one request are told from those of two with the same `Idempotency-Key`. */
export interface KeyedRow {
  /** Another body that would be accepted too. */
  other: (body: any) => any;
  /**
   * SQL that counts the effects on what the first path parameter ($1) names, or the body's `name` if there is none; each must be 1
   * after any number of requests.
   */
  effects: Record<string, string>;
  /** Tells two answers about the same effect from those about two. */
  identity: (body: any) => unknown;
}

/** By operation id. */
export type Rows = Record<string, Row>;
