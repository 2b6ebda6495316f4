import { etagOfText } from './etag.js';

/** An answer that sets its own status or headers; a handler that returns anything else answers with its route's status. */
export class Reply<T = unknown> {
  constructor(
    readonly status: number,
    readonly body: T,
    readonly headers: Record<string, string | string[]> = {},
  ) {}
}

/** @param body an object, a `rawJson` text, a stream or undefined for no body */
export function reply<T>(status: number, body: T, headers?: Record<string, string | string[]>): Reply<T> {
  return new Reply(status, body, headers);
}

/** JSON text that is sent as it is, made in SQL for hot reads. It must be the text of one JSON object. */
export class RawJson {
  private tag: string | undefined;

  constructor(readonly text: string) {}

  /** Made once, however many are sent this answer. */
  get etag(): string {
    return (this.tag ??= etagOfText(this.text));
  }
}

export function rawJson(text: string): RawJson {
  return new RawJson(text);
}
