import { parsedJson, type EngineService } from '@slipway/contracts';
import { exchange, urlOf, type CallableServer, type EngineAnswer } from './engine-call.js';
import { errorTextOf } from './error-text.js';
import { causeOf } from './health.js';
import { fieldOf, SERVED_REQUESTS } from './served-requests.js';

/**
 * The answer to the request that proves a server ready. `busy`: it may answer later. `refused`: it answers, but not
 * with a result. `message` names what was requested and what was answered.
 */
export type ReadyAnswer = ResultAnswer | BusyAnswer | Pick<Refusal, 'is' | 'message'>;

type ResultAnswer = { is: 'answered' };
type BusyAnswer = { is: 'busy'; message: string };
type Refusal = { is: 'refused'; message: string; url: string; status: number };

/** The services that a server may have if nothing describes it, the usual one first. */
const ANY_SERVICE: readonly EngineService[] = ['chat', 'embeddings', 'rerank', 'completions'];
const ONE_TOKEN = { max_tokens: 1 };
/** Some models of chat servers refuse the usual name of the limit. The question is short enough without a limit. */
const NO_LIMIT = { max_tokens: undefined };
/** Statuses of a server that does not have the requested service, or not for its model. */
const UNSUPPORTED = new Set([400, 404, 405, 415, 422, 501]);
/** "Try again later". All other statuses from 500 on may end as well. */
const BUSY = new Set([408, 425, 429]);
const MOST_SHOWN_URL = 200;

/**
 * Sends the smallest request of a service that the server has, until one of them is answered with a result. Never
 * throws.
 * @param serves the declared services; without a declaration, every usual service is tried
 */
export async function sendReadyRequest(
  server: CallableServer,
  serves: readonly EngineService[] = ANY_SERVICE,
  limitMs: number,
): Promise<ReadyAnswer> {
  const refusals: Refusal[] = [];
  for (const call of callsFor(serves)) {
    const answer = await ask(server, call, limitMs);
    if (answer.is !== 'refused') return answer;
    refusals.push(answer);
    if (!UNSUPPORTED.has(answer.status)) break;
  }
  const [first, ...others] = refusals;
  const more = others.filter(({ url }) => url !== first!.url).map(({ url, status }) => `POST ${url} (${status})`);
  return { is: 'refused', message: [first!.message, ...more].join('; also refused: ') };
}

interface ServiceCall {
  kind: EngineService;
  body: object;
  isOutsideApi?: boolean;
}

function callsFor(serves: readonly EngineService[]): ServiceCall[] {
  return serves.flatMap((kind): ServiceCall[] => {
    const { body } = SERVED_REQUESTS[kind];
    if (kind === 'chat') return [ONE_TOKEN, NO_LIMIT].map((limit) => ({ kind, body: { ...body, ...limit } }));
    if (kind === 'completions') return [{ kind, body: { ...body, ...ONE_TOKEN } }];
    // Text Embeddings Inference serves it outside of the API, and calls the documents texts.
    const texts = { query: 'ready', texts: ['ready'] };
    return kind === 'rerank'
      ? [
          { kind, body },
          { kind, body: texts, isOutsideApi: true },
        ]
      : [{ kind, body }];
  });
}

async function ask(
  server: CallableServer,
  { kind, body, isOutsideApi }: ServiceCall,
  limitMs: number,
): Promise<ResultAnswer | BusyAnswer | Refusal> {
  const { path, wanted } = SERVED_REQUESTS[kind];
  const call = { path, isOutsideApi, body: { model: server.model, ...body }, limitMs };
  const url = urlOf(server, call).slice(0, MOST_SHOWN_URL);
  try {
    const answer = await exchange(server, call);
    const { status } = answer;
    if (status === 200 && isResult(answer)) return { is: 'answered' };
    const told = `POST ${url} returned ${status}${status === 200 ? `, and not ${wanted}` : ''}`;
    const text = errorTextOf(answer.text, server.credential);
    const message = text === undefined ? told : `${told}: ${text}`;
    const isBusy = BUSY.has(status) || (status >= 500 && status !== 501);
    return isBusy ? { is: 'busy', message } : { is: 'refused', message, url, status };
  } catch (error) {
    return { is: 'busy', message: `POST ${url}: ${causeOf(error, limitMs / 1_000)}` };
  }
}

/** A result in the shape of any service; a server may also stream it. A qualification examines it in detail. */
function isResult({ text, type }: EngineAnswer): boolean {
  const event = type.startsWith('text/event-stream') ? /^data:([^\n{]*\{.*)$/m.exec(text)?.[1] : undefined;
  const body = parsedJson(event ?? text);
  if (Array.isArray(body)) return body.length > 0;
  return ['choices', 'data', 'results', 'output'].some((name) => Array.isArray(fieldOf(body, name)));
}
