import { Slipway } from '@slipway/sdk';

export interface WholeAnswer<T> {
  status: number;
  headers: Headers;
  body: T;
}

/** Returns the answer of a call with the status and the headers of HTTP, which the client does not expose. */
export async function wholeAnswer<T>(
  at: { baseUrl: string; token: string },
  call: (slipway: Slipway) => PromiseLike<T>,
): Promise<WholeAnswer<T>> {
  let answer: Response | undefined;
  const listening: typeof fetch = async (...request) => (answer = await fetch(...request));
  const body = await call(new Slipway({ ...at, maxRetries: 0, fetch: listening }));
  const { status, headers } = answer!;
  return { status, headers, body };
}
