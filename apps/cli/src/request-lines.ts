const MOST_BODY = 4_000;

/** `-v`: each request as a line of curl, and what came back. The token is masked: such lines end up in tickets. */
export function tellingFetch(own: typeof fetch, tell: (line: string) => void): typeof fetch {
  return async (input, init = {}) => {
    tell(curlLine(String(input), init));
    const response = await own(input, init);
    const id = response.headers.get('x-request-id');
    tell(`< ${response.status}${id ? ` request ${id}` : ''}`);
    return response;
  };
}

function curlLine(url: string, { method = 'GET', headers, body }: RequestInit): string {
  const words = ['curl', '-X', method];
  for (const [name, value] of new Headers(headers).entries())
    words.push('-H', quoted(`${name}: ${name === 'authorization' ? 'Bearer $SLIPWAY_TOKEN' : value}`));
  if (typeof body === 'string') words.push('-d', quoted(body.length > MOST_BODY ? '@file' : body));
  else if (body) words.push('--data-binary', '@file');
  return [...words, quoted(url)].join(' ');
}

/** Double quotes where the shell is to fill in the token. */
function quoted(text: string): string {
  if (text.endsWith('$SLIPWAY_TOKEN')) return `"${text}"`;
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
