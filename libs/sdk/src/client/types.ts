import type { components, operations } from '../generated/api.js';
import type { Page } from './listing.js';

export type Schemas = components['schemas'];
export type OperationId = keyof operations;

/** The named types of the api's document. The answers of the sdk are these, field by field. */
export type Operation = Schemas['OperationDto'];
export type OperationStep = Schemas['OperationStepDto'];
export type DeploymentEvent = Schemas['EventDto'];

type Rehearsal = Pick<Schemas['RehearsalDto'], 'valid' | 'would'>;

type Responses<Id extends OperationId> = operations[Id]['responses'];
type JsonOf<Response> = Response extends { content: { 'application/json': infer Body } } ? Body : never;
type AnyAnswerOf<Id extends OperationId> = {
  [Status in keyof Responses<Id>]: JsonOf<Responses<Id>[Status]>;
}[keyof Responses<Id>];

/** The body of a successful answer. */
export type AnswerOf<Id extends OperationId> = Exclude<AnyAnswerOf<Id>, Rehearsal>;
/** The answer to `validate_only`. */
export type RehearsalOf<Id extends OperationId> = Extract<AnyAnswerOf<Id>, Rehearsal>;
/** A row of a list. */
export type ItemOf<Id extends OperationId> = AnswerOf<Id> extends { data: (infer Item)[] } ? Item : never;

export type PageOf<Id extends OperationId> = AnswerOf<Id> & Page<ItemOf<Id>>;

export type BodyOf<Id extends OperationId> =
  NonNullable<operations[Id]['requestBody']> extends { content: { 'application/json': infer Body } } ? Body : never;

export type PathOf<Id extends OperationId> = operations[Id]['parameters'] extends { path: infer Path } ? Path : {};

type AnyQueryOf<Id extends OperationId> = NonNullable<operations[Id]['parameters']['query']>;
/** `validate_only` is a method of its own (`rehearse`), with another answer. */
type QueryOf<Id extends OperationId> = [AnyQueryOf<Id>] extends [never] ? {} : Omit<AnyQueryOf<Id>, 'validate_only'>;

type HeadersOf<Id extends OperationId> = NonNullable<operations[Id]['parameters']['header']>;
type WithHeader<Id extends OperationId, Name extends string, Option> = [HeadersOf<Id>] extends [never]
  ? {}
  : Name extends keyof HeadersOf<Id>
    ? Option
    : {};

export interface CallOptions {
  /** Ends the call, including its pauses between tries. The call fails with the signal's reason. */
  signal?: AbortSignal;
  /** Time limit of one try, until its answer is read to the end. */
  timeoutMs?: number;
  /** How often a failed try is repeated, if a repetition is safe. */
  maxRetries?: number;
  /** Whether the api refuses fields of the body that it does not know. By default, the client's own setting. */
  strict?: boolean;
  headers?: Record<string, string>;
}

export interface KeyOption {
  /**
   * Adopts the request that was made with this key. Without one each call makes its own, and keeps it through its
   * retries.
   */
  idempotencyKey?: string;
}

export interface ConditionOptions {
  /** The `etag` that the resource must still have; otherwise the call fails with `precondition_failed`. */
  ifMatch?: string;
  /** `*` fails with `precondition_failed` if the resource exists already. */
  ifNoneMatch?: string;
}

/**
 * The options of a call in addition to its path and body: the query of its operation, by the api's names, and how to
 * call.
 */
export type OptionsOf<Id extends OperationId> = CallOptions &
  QueryOf<Id> &
  WithHeader<Id, 'Idempotency-Key', KeyOption> &
  WithHeader<Id, 'If-Match', ConditionOptions>;
