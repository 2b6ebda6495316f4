import { CliError, EXIT } from '../exit-codes.js';
import { reasonOf } from '../failure-lines.js';
import { harmless } from '../terminal.js';
import type { Session } from '../session.js';
import type { CommandInput, RunVerb } from './verb.js';

const TIMEOUT_MS = 30_000;

export const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'];

/** Calls endpoints that have no command of their own yet. */
export const api: RunVerb = {
  verb: 'api',
  args: '[method] [path]',
  summary:
    'Call the api directly: the path is relative to /api/v1, except for /healthz, /docs and similar. The method is GET, or POST with a body',
  examples: [
    'slipway api /deployments',
    `slipway api GET /openapi.json --jq .info.version`,
    `slipway api POST /deployments --fields name=chat`,
  ],
  flags: [
    {
      flags: '-F, --fields <pairs>',
      summary: 'fields of the body, such as name=chat,environment=staging; of a GET, parameters',
      as: 'pairs',
    },
    { flags: '-X, --method <method>', summary: 'the method, in place of the argument', values: METHODS },
    {
      flags: '-H, --header <header>',
      summary: 'additional header, such as "accept: text/event-stream"; may be repeated',
      isRepeatable: true,
    },
  ],
  takesBody: true,
  run: callApi,
};

/** The filter's results are JSON, and have no table. */
const NO_VIEW = { name: '', columns: [] };

/** These paths are outside /api/v1. */
const OF_THE_SERVER = /^\/(api\/|openapi\.json|healthz|readyz|metrics|docs)/;

async function callApi(session: Session, { args, body: fileBody, flags }: CommandInput): Promise<void> {
  const hasBody = fileBody !== undefined || flags['fields'] !== undefined;
  const { method, path: given } = requestOf(args, flags['method'] as string | undefined, hasBody);
  if (!/^[A-Za-z]+$/.test(method)) throw new CliError(`${method} is not an HTTP method.`);
  const { url, token } = session.chosen();
  const isRead = /^(?:get|head)$/i.test(method);
  const fields = flags['fields'] as Record<string, string> | undefined;
  if (isRead && fileBody !== undefined) throw new CliError(`${method.toUpperCase()} sends no body. Leave out --file.`);
  const path = isRead ? withQuery(pathOf(given, url), fields) : pathOf(given, url);
  const root = url + (OF_THE_SERVER.test(path) ? '' : '/api/v1');
  const body = hasBody && !isRead ? { ...fileBody, ...fields } : undefined;
  const headers = new Headers({ accept: 'application/json, */*;q=0.5', authorization: `Bearer ${token}` });
  if (body !== undefined) headers.set('content-type', 'application/json');
  for (const header of (flags['header'] as string[] | undefined) ?? []) {
    const [name = '', ...value] = header.split(':');
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name.trim()) || value.length === 0)
      throw new CliError(`--header: use a name and a value, such as "accept: text/event-stream".`);
    headers.set(name.trim(), value.join(':').trim());
  }
  const { joinSignals, timeLimit } = await import('@slipway/sdk');
  const limit = timeLimit(TIMEOUT_MS);
  const { signal } = joinSignals(session.signal, limit.signal);
  const response = await session
    .fetch(root + path, {
      method: method.toUpperCase(),
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
      redirect: 'error',
      signal,
    })
    .catch((error: unknown) => {
      throw session.signal.aborted
        ? error
        : new CliError(
            `${root}${path}: no response: ${reasonOf(error)}`,
            EXIT.failed,
            'Run slipway doctor to find the cause, or slipway context show to check the URL.',
          );
    });
  // A stream of events has no end; its headers arrived in time.
  limit.stop();
  if (session.flags.jq !== undefined && response.ok) await session.output.print(await jsonOf(response), NO_VIEW);
  else await copy(response, session);
  if (!response.ok) session.exitCode = codeOf(response.status);
}

/** `GET /deployments`, as curl's users write it, or only the path, as gh's do. */
function requestOf(
  args: readonly string[],
  flag: string | undefined,
  hasBody: boolean,
): { method: string; path: string } {
  const usual = flag ?? (hasBody ? 'POST' : 'GET');
  const [first, second] = args;
  if (first === undefined) throw new CliError('Name the path, such as slipway api /deployments.');
  if (second === undefined) return { method: usual, path: first };
  if (flag !== undefined) throw new CliError('Name the method once: as an argument or with --method.');
  return { method: first, path: second };
}

/** As gh takes it: without a slash, or as an address of this server. The token is for this server alone. */
function pathOf(given: string, url: string): string {
  if (given.startsWith(`${url}/`)) return given.slice(url.length);
  if (given.includes('://') || given.startsWith('//'))
    throw new CliError(`${given} is not a path of ${url}.`, EXIT.failed, 'Name the path alone, such as /deployments.');
  return given.startsWith('/') ? given : `/${given}`;
}

/** A read has no body, so its fields are parameters, as with gh. */
function withQuery(path: string, fields: Record<string, string> = {}): string {
  const query = new URLSearchParams(fields).toString();
  if (query === '') return path;
  return path + (path.includes('?') ? '&' : '?') + query;
}

async function jsonOf(response: Response): Promise<unknown> {
  const text = await response.text();
  try {
    return JSON.parse(text);
  } catch {
    throw new CliError('--jq filters JSON, but the response is not JSON.');
  }
}

async function copy({ body }: Response, { terminal }: Session): Promise<void> {
  const { stdout } = terminal.streams;
  const decoder = new TextDecoder();
  let last = '';
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    const text = decoder.decode(chunk, { stream: true });
    last = text.at(-1) ?? last;
    const shown = terminal.isTerminal('stdout') ? text.split('\n').map(harmless).join('\n') : text;
    if (!stdout.write(shown)) await new Promise((resolve) => stdout.once('drain', resolve));
  }
  if (last && last !== '\n') stdout.write('\n');
}

function codeOf(status: number): (typeof EXIT)[keyof typeof EXIT] {
  if (status === 401) return EXIT.needsLogin;
  if (status === 404) return EXIT.notFound;
  return status === 409 || status === 412 ? EXIT.conflict : EXIT.failed;
}
