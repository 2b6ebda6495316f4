import { SlipwayError } from './errors.js';

export interface Bounds {
  signal: AbortSignal | undefined;
  /** The longest silence between two chunks. */
  silenceMs?: number;
}

/**
 * The body of an answer as it comes. It lets the connection go when nobody reads on, and itself with the signal: of a `fetch` that has
 * answered Node may no longer know its signal, which it holds weakly.
 * @throws the signal's reason; timed_out behind a silence
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
    // Of a connection that is broken already there is nothing to say.
    await reader.cancel().catch(() => undefined);
  }
}

/** The same answer, whose body goes on to end with the signal. */
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
