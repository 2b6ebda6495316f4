import { CliError, EXIT, type ExitCode } from '../exit-codes.js';
import { reasonOf } from '../failure-lines.js';
import { textAtStart } from '../servers/response-text.js';
import type { Session } from '../session.js';
import { harmless, wordsOf } from '../terminal.js';

export interface Message {
  role: 'system' | 'user' | 'assistant';
  content: string;
}

export interface ChatRequest {
  model: string;
  messages: readonly Message[];
  stream?: boolean;
  max_tokens?: number;
  temperature?: number;
}

export interface Gateway {
  url: string;
  token: string;
}

/** A part of a streamed answer: what the model says, or what it thinks before. */
export interface AnswerPart {
  text: string;
  isThought: boolean;
}

/** A model that is being loaded may be silent for long. Heartbeats of the gateway count as signs of life. */
const SILENCE_MS = 5 * 60_000;
const MOST_ERROR = 64 * 1024;

/** Yields the answer as the model makes it. @returns why it ended; @throws a CliError with a hint */
export async function* answerParts(
  session: Session,
  gateway: Gateway,
  request: ChatRequest,
  signal: AbortSignal,
): AsyncGenerator<AnswerPart, string | undefined> {
  const response = await ask(session, gateway, { ...request, stream: true }, 'text/event-stream', signal);
  const { messagesOf } = await import('@slipway/sdk');
  let reason: string | undefined;
  for await (const { data } of messagesOf(response, { signal, silenceMs: SILENCE_MS })) {
    if (data === '[DONE]') return reason;
    const chunk = chunkOf(data);
    if (chunk.error !== undefined) throw refusalOf(chunk.error, undefined, request.model);
    const { delta, finish_reason: finish } = chunk.choices?.[0] ?? {};
    const { content, reasoning_content: thought } = delta ?? {};
    if (typeof thought === 'string' && thought !== '') yield { text: thought, isThought: true };
    if (typeof content === 'string' && content !== '') yield { text: content, isThought: false };
    reason = finish ?? reason;
  }
  if (reason !== undefined) return reason;
  throw new CliError('The answer was cut off before its end.', EXIT.failed, 'Send the message again.');
}

/** The whole answer as one object, for programs. */
export async function wholeAnswer(session: Session, gateway: Gateway, request: ChatRequest): Promise<unknown> {
  const response = await ask(session, gateway, request, 'application/json', session.signal);
  try {
    return await response.json();
  } catch (error) {
    session.signal.throwIfAborted();
    throw new CliError(`The answer of the gateway is not JSON: ${reasonOf(error)}`);
  }
}

interface Chunk {
  error?: GatewayRefusal;
  choices?: { delta?: { content?: unknown; reasoning_content?: unknown }; finish_reason?: string | null }[];
}

interface GatewayRefusal {
  message?: unknown;
  code?: unknown;
  param?: unknown;
}

function chunkOf(data: string): Chunk {
  try {
    return (JSON.parse(data) ?? {}) as Chunk;
  } catch {
    throw new CliError('An event of the answer is not JSON.', EXIT.failed, 'Check the address of the gateway.');
  }
}

async function ask(
  session: Session,
  { url, token }: Gateway,
  request: ChatRequest,
  accept: string,
  signal: AbortSignal,
): Promise<Response> {
  let response: Response;
  try {
    response = await session.fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { accept, authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(request),
      // No other server gets the token.
      redirect: 'error',
      signal,
    });
  } catch (error) {
    signal.throwIfAborted();
    throw new CliError(
      `The gateway ${url} does not respond: ${reasonOf(error)}`,
      EXIT.failed,
      'Run slipway doctor to find the cause. Another gateway: --gateway <url> or SLIPWAY_GATEWAY_URL.',
    );
  }
  if (response.ok) return response;
  throw refusalOf(await errorOf(response), response, request.model);
}

async function errorOf(response: Response): Promise<GatewayRefusal> {
  const text = await textAtStart(response, MOST_ERROR);
  try {
    const { error } = JSON.parse(text) as { error?: GatewayRefusal };
    if (error?.message !== undefined) return error;
  } catch {
    // Another server than the gateway has answered.
  }
  return { message: `The response ${response.status} is not from a gateway of Slipway.`, code: 'unexpected_answer' };
}

/** The remedy, by the code of the error. */
const HINTS: Record<string, (model: string) => string> = {
  invalid_api_key: () => 'Run slipway whoami to check the token, or slipway login to use another one.',
  token_expired: () => 'Create a new token with slipway tokens create, and run slipway login.',
  model_not_found: (model) =>
    `Run slipway deployments list and slipway catalog list to see the models. A deployment needs a route: slipway routes get ${model}`,
  context_length_exceeded: () => 'Shorten the message, or begin a new conversation.',
  unavailable: (model) => `Run slipway instances list ${model} to see its instances.`,
  start_failed: (model) => `Run slipway logs ${model} to see why it could not be started.`,
  upstream_error: (model) => `Run slipway logs ${model} to see what its model server says.`,
  upstream_timeout: () => 'Request a shorter answer with --max-tokens.',
  deployment_restarting: (model) => `The model is being replaced or started: slipway operations wait ${model}`,
  unknown_url: () => 'Check the address of the gateway: --gateway <url> or SLIPWAY_GATEWAY_URL.',
  unexpected_answer: () => 'Check the address of the gateway: --gateway <url> or SLIPWAY_GATEWAY_URL.',
};

function refusalOf({ message, code, param }: GatewayRefusal, response: Response | undefined, model: string): CliError {
  const word = typeof code === 'string' ? code : undefined;
  const hint = word !== undefined && Object.hasOwn(HINTS, word) ? HINTS[word]!(model) : undefined;
  const seconds = Number(response?.headers.get('retry-after') ?? NaN);
  const later = Number.isNaN(seconds) ? undefined : `Try again in ${Math.max(1, Math.ceil(seconds))} s.`;
  const id = response?.headers.get('x-request-id');
  const lines = [
    ...(word ? [`code: ${word}`] : []),
    ...(typeof param === 'string' ? [`parameter: ${param}`] : []),
    ...(later || hint ? [`what to do: ${[later, hint].filter(Boolean).join(' ')}`] : []),
    ...(id ? [`request: ${id}`] : []),
  ];
  return new CliError(wordsOf(message), exitOf(response?.status), lines.map(harmless).join('\n  '));
}

function exitOf(status: number | undefined): ExitCode {
  if (status === 401) return EXIT.needsLogin;
  return status === 404 ? EXIT.notFound : EXIT.failed;
}
