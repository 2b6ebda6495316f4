import type { Bed } from './bed.js';

/** A request to one operation. It has no body unless one is given; the token is the bootstrap token by default. */
export interface ContractRequest {
  params?: Record<string, string>;
  query?: Record<string, string>;
  body?: Record<string, unknown>;
  headers?: Record<string, string>;
  token?: string;
}

/**
 * How to call one operation so that it succeeds. Each area has a row for each of its operations, in
 * `test/contract-rows.ts`. The suites of apps/api use all rows: contract, fuzz, authorization, idempotency, audit.
 */
export interface Row {
  /** The status of the successful call. */
  status: number;
  /**
   * Makes the resources that the minimal valid request needs, and the request. Each call returns a request that has not
   * been sent before.
   */
  valid: (bed: Bed) => Promise<ContractRequest>;
  /**
   * If the path names no resource: why the operation cannot reach resources of another tenant. If the path names one,
   * the valid request is also sent as another tenant, and must find nothing.
   */
  tenancy?: string;
  /**
   * The status of the document's example on a fresh stack, if it cannot succeed there. A path that contains an id
   * always answers 404.
   */
  example?: { status: number; why: string };
  /** The name of the action in the audit. Every mutation has one. */
  audit?: string;
  /** Extends the minimal body with every nested object. Needed if the schema has nested objects. */
  full?: (body: Record<string, unknown>) => Record<string, unknown>;
  /** Nested objects that exclude the others, such as alternatives. */
  apart?: string[];
  /** Fields that a rule about several fields, or a limit of the operator, refuses with the code for a bound. */
  related?: string[];
}

/** By operation id. */
export type Rows = Record<string, Row>;
