import { SlipwayError } from './errors.js';

export interface Bounds {
  signal: AbortSignal | undefined;
  /** The longest silence between two chunks. */
  silenceMs?: number;
}

/**
 * Yields the body of an answer in chunks. It releases the connection when the reader stops, and ends itself with the
 * signal: Node holds the signal of a `fetch` weakly, and may no longer know it after the headers.
 * @throws the signal's reason; timed_out after a silence
 */
export async function* chunksOf(
  { body }: Response,
  { signal, silenceMs }: Bounds,
): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = body?.getReader();
  if (!reader) return;
  let isSilent = false;
  const cancel = () => void reader.cancel().catch(() => undefined);
  signal?.addEventListener('abort', cancel);
  try {
    for (;;) {
      signal?.throwIfAborted();
      const timer = silenceMs === undefined ? undefined : setTimeout(() => ((isSilent = true), cancel()), silenceMs);
      const { done, value } = await reader.read().finally(() => clearTimeout(timer));
      signal?.throwIfAborted();
      if (isSilent)
        throw new SlipwayError(`No data arrived for ${silenceMs} ms.`, { code: 'timed_out', retryable: true });
      if (done) return;
      yield value;
    }
  } finally {
    signal?.removeEventListener('abort', cancel);
    // The connection is already broken, so an error here adds nothing.
    await reader.cancel().catch(() => undefined);
  }
}

/** Returns the same answer with a body that still ends with the signal. */
export function boundTo(signal: AbortSignal | undefined, response: Response): Response {
  if (!signal || !response.body) return response;
  const chunks = chunksOf(response, { signal });
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await chunks.return();
    },
  });
  return new Response(body, response);
}
