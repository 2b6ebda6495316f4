/** What a request has of its own on the way to an engine, and what would show it the client's credentials. */
const NEVER_PASSED =
  /^(content-.*|transfer-encoding|connection|keep-alive|te|trailer|upgrade|expect|host|proxy-.*|accept(-encoding)?|authorization|cookie|user-agent|x-request-id|traceparent|tracestate)$/;

/** Names of clients' headers that engines may get, lower case. @throws Error that says what is wrong with them */
export function headerNames(raw: string): string[] {
  const names = raw
    .toLowerCase()
    .split(',')
    .map((one) => one.trim())
    .filter(Boolean);
  const wrong = names.find((one) => !/^[a-z0-9-]{1,64}$/.test(one) || NEVER_PASSED.test(one));
  if (wrong !== undefined)
    throw new Error(`must be names of headers with commas between; ${wrong} cannot be passed on`);
  if (names.length > 20) throw new Error('must be at most 20 names');
  return [...new Set(names)];
}
