export interface StreamLimits {
  /** Ends the stream without an error. */
  signal?: AbortSignal;
  mostBytes: number;
  /**
   * Limit from opening the stream to its last byte, whether a reader consumes it or not. Undefined for a stream without
   * an end.
   */
  withinMs?: number;
}

/**
 * Limits a foreign stream: it ends after a number of bytes, after a time, or when its reader has enough.
 *
 * @param errorOf converts the error of a connection that breaks or is too slow
 */
export async function boundedStream(
  open: (signal: AbortSignal) => Promise<AsyncIterable<Buffer>>,
  { signal, mostBytes, withinMs }: StreamLimits,
  errorOf: (error: unknown) => Error,
): Promise<AsyncIterable<Buffer>> {
  const stop = new AbortController();
  const end = (): void => stop.abort();
  if (signal?.aborted) end();
  signal?.addEventListener('abort', end);
  const timer = withinMs === undefined ? undefined : setTimeout(end, withinMs);
  timer?.unref();
  const release = (): void => {
    clearTimeout(timer);
    signal?.removeEventListener('abort', end);
    end();
  };
  try {
    return piecesOf(await open(stop.signal), mostBytes);
  } catch (error) {
    release();
    throw error;
  }

  async function* piecesOf(pieces: AsyncIterable<Buffer>, most: number): AsyncGenerator<Buffer> {
    let left = most;
    try {
      for await (const piece of pieces) {
        yield piece.length > left ? piece.subarray(0, left) : piece;
        left -= piece.length;
        if (left <= 0) return;
      }
    } catch (error) {
      if (!signal?.aborted) throw errorOf(error);
    } finally {
      release();
    }
  }
}
