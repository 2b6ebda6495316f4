import fastJsonPatch from 'fast-json-patch';
import type { Operation } from 'fast-json-patch';
import { ArrayField, BooleanField, JsonField, StringField } from '../fields/field.decorators.js';
import { etagOfText } from './etag.js';

/**
 * An answer that sets its own status or headers. If a handler returns anything else, the answer has the status of its
 * route.
 */
export class Reply<T = unknown> {
  constructor(
    readonly status: number,
    readonly body: T,
    readonly headers: Record<string, string | string[]> = {},
  ) {}
}

/** @param body an object, a `rawJson` text, a stream, or undefined for no body */
export function reply<T>(status: number, body: T, headers?: Record<string, string | string[]>): Reply<T> {
  return new Reply(status, body, headers);
}

/** JSON text that is sent unchanged: hot reads build it in SQL. It must be the text of one JSON object. */
export class RawJson {
  private tag: string | undefined;

  constructor(readonly text: string) {}

  /** Computed once, even if many clients receive this answer. */
  get etag(): string {
    return (this.tag ??= etagOfText(this.text));
  }
}

export function rawJson(text: string): RawJson {
  return new RawJson(text);
}

/** The answer to `?validate_only=true`: every check ran, and nothing was written. */
export class RehearsalDto {
  @BooleanField()
  valid: boolean;

  @StringField({ description: 'Effect that the request would have' })
  would: string;

  @ArrayField('string', {
    description: 'Steps of the operation that the request would start; empty if it would start none',
  })
  steps: string[];

  @ArrayField(() => RehearsalChangeDto, { description: 'Changes that the request would make, as RFC 6902 operations' })
  diff: object[];
}

export class RehearsalChangeDto {
  @StringField({ enum: ['add', 'remove', 'replace', 'move', 'copy', 'test'] })
  op: string;

  @StringField()
  path: string;

  @JsonField({ any: true, optional: true })
  value?: unknown;
}

/**
 * Answers a rehearsal.
 * @param diff RFC 6902 operations
 * @param more additional fields of the route's own kind of rehearsal
 */
export function rehearsal(
  would: string,
  steps: readonly string[] = [],
  diff: readonly object[] = [],
  more: object = {},
): Reply {
  return reply(200, { valid: true, would, steps, diff, ...more });
}

/** Returns the RFC 6902 operations that change one document into the other, or that add all of it if there was none. */
export function jsonPatch(from: object | undefined, to: object): Operation[] {
  return from ? fastJsonPatch.compare(from, to) : [{ op: 'add', path: '', value: to }];
}
