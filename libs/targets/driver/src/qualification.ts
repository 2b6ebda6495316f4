import { parsedJson, type EngineService, type IdentityProof, type PromisedTraits } from '@slipway/contracts';
import {
  callEngine,
  isOutageStatus,
  type EngineAnswer,
  type CallableServer,
  type CallResult,
  type ServerFindings,
  type CheckOutcome,
} from './engine-call.js';
import { errorTextOf } from './error-text.js';
import { isListed, isTokenCount, readModelList, type ListedModel } from './model-names.js';
import { fieldOf, first, hasText, isObject, answerJson, mainOf, SERVED_REQUESTS } from './served-requests.js';

export { CALL_IDLE_TIMEOUT_MS } from './engine-call.js';
export type { CallableServer, CallResult, CheckResult, ServerFindings } from './engine-call.js';

/** Checks by the names under which they are stored, in the order in which they run. */
export const QUALIFICATION_CHECKS = [
  'warm_up',
  'list_models',
  'identity',
  'context_length',
  'chat_completion',
  'streamed_completion',
  'text_completion',
  'response',
  'embeddings',
  'rerank',
  'unknown_model',
] as const;
export type QualificationCheck = (typeof QUALIFICATION_CHECKS)[number];

interface CheckSubject {
  target: CallableServer;
  /** Undefined if the server has no description. It is then checked like one that refuses unknown models. */
  traits: PromisedTraits | undefined;
  /**
   * The server was adopted for its model. Without a description, its list may be the proof. The list of a supplier may
   * not.
   */
  isAdopted?: boolean;
  /** Tokens of one request that the product promises; null if it promises none. */
  promisedContext?: number | null;
  signal: AbortSignal;
}

/** A name that no real model has. */
const UNKNOWN_MODEL = 'slipway-qualification-no-such-model';
/** A worker slot waits for the warm-up. */
const MAX_WARM_UP_SECONDS = 600;

/** The checks that apply to this engine. */
export function checksOf(
  traits: PromisedTraits | undefined,
  promisedContext: number | null = null,
): QualificationCheck[] {
  const hasPromise = promisedContext !== null;
  if (traits === undefined) {
    const context = hasPromise ? (['context_length'] as const) : [];
    return ['list_models', ...context, 'chat_completion', 'streamed_completion', 'unknown_model'];
  }
  const { serves, identity } = traits;
  const isChat = serves.includes('chat');
  const wanted: Record<QualificationCheck, boolean> = {
    warm_up: true,
    list_models: identity.length === 0 || identity.includes('models_list'),
    identity: identity.some((proof) => typeof proof !== 'string'),
    context_length: hasPromise,
    chat_completion: isChat,
    streamed_completion: isChat,
    // The chat check already shows that it generates.
    text_completion: serves.includes('completions') && !isChat,
    response: serves.includes('responses') && !isChat,
    embeddings: serves.includes('embeddings'),
    rerank: serves.includes('rerank'),
    unknown_model: true,
  };
  return QUALIFICATION_CHECKS.filter((name) => wanted[name]);
}

/**
 * Runs one check. No behaviour of the target makes it throw.
 * @throws the reason of the signal, if the signal fires
 */
export function runCheck(name: QualificationCheck, checked: CheckSubject): Promise<CallResult> {
  return CHECKS[name](checked);
}

/**
 * Whether all checks together qualify the target: none failed, and one of them got the answer that the engine is there
 * for.
 */
export function isQualified(checks: readonly { name: string; result: string }[]): boolean {
  const served = checks.filter(({ name }) => SERVED_CHECKS.has(name));
  return checks.every(({ result }) => result !== 'failed') && served.some(({ result }) => result === 'passed');
}

const SERVED_CHECKS: ReadonlySet<string> = new Set<QualificationCheck>([
  'chat_completion',
  'text_completion',
  'response',
  'embeddings',
  'rerank',
]);

const CHECKS: Record<QualificationCheck, (checked: CheckSubject) => Promise<CallResult>> = {
  warm_up: warmUp,
  list_models: listModels,
  identity: infoRoutes,
  context_length: contextLength,
  chat_completion: (checked) => answers('chat', checked),
  streamed_completion: streamedCompletion,
  text_completion: (checked) => answers('completions', checked),
  response: (checked) => answers('responses', checked),
  embeddings: (checked) => answers('embeddings', checked),
  rerank: (checked) => answers('rerank', checked),
  unknown_model: unknownModel,
};

/**
 * The first request of an engine may load the model or compile. So its duration is not judged, and its limit is that of
 * a start.
 */
function warmUp({ target, traits, signal }: CheckSubject): Promise<CallResult> {
  const { path, body } = SERVED_REQUESTS[mainOf(traits?.serves ?? [])];
  const limitMs = Math.min(traits?.readyTimeoutSeconds ?? 60, MAX_WARM_UP_SECONDS) * 1_000;
  return callEngine(target, { path, body: { model: target.model, ...body }, limitMs, signal }, ({ status }) =>
    isOutageStatus(status)
      ? { result: 'failed', message: `the first request returned ${status}` }
      : { result: 'passed', message: 'the engine responded to the first request; the response is not checked' },
  );
}

function listModels({ target, traits, signal }: CheckSubject): Promise<CallResult> {
  return callEngine(target, { path: '/models', signal }, (answer) => {
    const list = readModelList(answerJson(answer));
    if (answer.status !== 200 || !list) return failed(answer, 'a list of models');
    const models = list.flatMap(({ names }) => names);
    const found: ServerFindings = { models };
    if (isListed(target.model, models)) return { result: 'passed', message: 'the model is listed', found };
    const message = 'the list of models does not include this model';
    return { result: proofsOf(traits).includes('models_list') ? 'failed' : 'passed', message, found };
  });
}

/**
 * Compares the product's promise with the least that template and server say about one request. Servers that tell
 * nothing are not judged.
 */
async function contextLength(checked: CheckSubject): Promise<CallResult> {
  const { target, traits, isAdopted, promisedContext, signal } = checked;
  const listed = await callEngine(target, { path: '/models', signal }, (answer) => {
    const context = modelIn(readModelList(answerJson(answer)) ?? [], target.model)?.contextLength;
    return { result: 'passed', message: '', found: { contextLength: context } };
  });
  const told = [traits?.contextLength, listed.found?.contextLength];
  // llama.cpp reports there what one of its slots has. A supplier gets no request for a path of an engine.
  if ((traits || isAdopted) && !listed.isSilent) {
    const props = await callEngine(target, { path: '/props', isOutsideApi: true, signal }, (answer) => {
      const slot = fieldOf(answerJson(answer), 'default_generation_settings.n_ctx');
      return { result: 'passed', message: '', found: isTokenCount(slot) ? { contextLength: slot } : {} };
    });
    told.push(props.found?.contextLength);
  }
  const known = told.filter((tokens) => tokens !== undefined);
  const { durationMs, isSilent } = listed;
  const outcome = { durationMs, isSilent, isOutage: false };
  if (known.length === 0)
    return {
      ...outcome,
      result: 'not_applicable',
      message: 'the server does not report the context length of a request',
    };
  const tokens = Math.min(...known);
  const found = { contextLength: tokens };
  if (tokens >= (promisedContext ?? 0))
    return { ...outcome, result: 'passed', message: `one request may have ${tokens} tokens`, found };
  const message = `one request may have ${tokens} tokens, and the product promises a context_length of ${promisedContext}`;
  return { ...outcome, result: 'failed', message, found };
}

/** The entry of a model; the only entry of a server that has one model, whatever its name. */
function modelIn(list: readonly ListedModel[], model: string): ListedModel | undefined {
  return list.find(({ names }) => isListed(model, names)) ?? (list.length === 1 ? list[0] : undefined);
}

/**
 * An engine that answers to any name must prove its model. If its template names no proof, its list of models is the
 * proof.
 */
function proofsOf(traits: PromisedTraits | undefined): readonly IdentityProof[] {
  if (traits === undefined) return [];
  const { identity, unknownModel: declared } = traits;
  return identity.length === 0 && declared !== 'rejects' ? ['models_list'] : identity;
}

async function infoRoutes({ target, traits, signal }: CheckSubject): Promise<CallResult> {
  const found: CallResult[] = [];
  for (const proof of proofsOf(traits)) {
    if (typeof proof === 'string') continue;
    const { path, field, equals } = proof;
    found.push(
      await callEngine(target, { path, isOutsideApi: true, signal }, (answer) => {
        const value = fieldOf(answerJson(answer), field);
        if (answer.status !== 200 || value === undefined)
          return failed(answer, `a JSON object with the field ${field} at ${path}`);
        if (String(value) !== equals)
          return { result: 'failed', message: `${path} names a different model than the revision` };
        return { result: 'passed', message: `${path} names the model of the revision` };
      }),
    );
    if (found.at(-1)?.result === 'failed') break;
  }
  const durationMs = found.reduce((sum, one) => sum + one.durationMs, 0);
  const last = found.at(-1);
  if (last === undefined) return UNPROVEN;
  return { ...last, message: found.map(({ message }) => message).join('; '), durationMs };
}

const UNPROVEN: CallResult = {
  result: 'not_applicable',
  message: 'the engine no longer declares an info route',
  durationMs: 0,
  isOutage: false,
  isSilent: false,
};

async function answers(kind: EngineService, checked: CheckSubject): Promise<CallResult> {
  const { target, signal } = checked;
  const { path, body } = SERVED_REQUESTS[kind];
  const call = { path, body: { model: target.model, ...body }, signal };
  const judge = (answer: EngineAnswer) => judged(kind, checked, answer);
  const result = await believingList(checked, await callEngine(target, call, judge));
  if (kind !== 'rerank' || result.result === 'passed' || result.isOutage) return result;
  // Text Embeddings Inference serves it outside of /v1, and calls the documents texts.
  const texts = { query: 'ready', texts: ['ready', 'not ready yet'] };
  return callEngine(target, { path, isOutsideApi: true, body: texts, signal }, judge);
}

/** An engine may answer under another of its names: its list shows which names are one model. */
async function believingList({ target, signal }: CheckSubject, result: CallResult): Promise<CallResult> {
  const { responseModel } = result.found ?? {};
  if (result.result === 'passed' || responseModel === undefined) return result;
  const listed = await callEngine(target, { path: '/models', signal }, (answer) => {
    const list = readModelList(answerJson(answer)) ?? [];
    const isSame = list.some(({ names }) => isListed(target.model, names) && isListed(responseModel, names));
    return { result: isSame ? 'passed' : 'failed', message: 'responded under another name of the model' };
  });
  return listed.result === 'passed' ? { ...result, result: 'passed', message: listed.message } : result;
}

function judged(kind: EngineService, { target, traits }: CheckSubject, answer: EngineAnswer): CheckOutcome {
  const { wanted, isAnswer } = SERVED_REQUESTS[kind];
  const body = answerJson(answer);
  if (answer.status === 200 && isAnswer(body)) return ofItsModel(target, traits, body, textOf(kind, body));
  // The model decides which of the two an engine can do. `isQualified` requires one of them.
  const isOneOfSeveral = (kind === 'embeddings' || kind === 'rerank') && (traits?.serves.length ?? 0) > 1;
  if (isOneOfSeveral && isRefusal(answer))
    return { result: 'not_applicable', message: `rejected with ${answer.status}: this model does not support it` };
  return failed(answer, wanted);
}

function ofItsModel(
  target: CallableServer,
  traits: PromisedTraits | undefined,
  body: unknown,
  message: string,
): CheckOutcome {
  const model = fieldOf(body, 'model');
  const found: ServerFindings = typeof model === 'string' ? { responseModel: model } : {};
  // A list of scores names no model.
  const isNamed = Array.isArray(body) || (typeof model === 'string' && isListed(target.model, [model]));
  if (proofsOf(traits).includes('response_model') && !isNamed)
    return { result: 'failed', message: 'the response names another model', found };
  return { result: 'passed', message, found };
}

function textOf(kind: EngineService, body: unknown): string {
  if (kind !== 'chat') return 'responded';
  const message = first(fieldOf(body, 'choices'))?.['message'] as Record<string, unknown>;
  if (hasText(message)) return 'responded';
  return 'responded without text';
}

/** Where servers put the usage of an answer. */
const USAGE_FIELDS = ['usage', 'x_groq.usage'];

function streamedCompletion({ target, traits, signal }: CheckSubject): Promise<CallResult> {
  const { path, body } = SERVED_REQUESTS.chat;
  const usage = traits === undefined ? {} : { stream_options: { include_usage: true } };
  const call = { path, body: { model: target.model, ...body, stream: true, ...usage }, signal };
  return callEngine(target, call, (answer) => {
    if (answer.status !== 200 || !answer.type.startsWith('text/event-stream')) return failed(answer, 'an event stream');
    const events = answer.text
      .split(/\r\n|\r|\n/)
      .filter((line) => line.startsWith('data:'))
      .map((line) => line.slice('data:'.length).trim());
    const bodies = events.map(parsedJson);
    const deltas = bodies.map((one) => first(fieldOf(one, 'choices'))?.['delta']).filter(isObject);
    if (deltas.length === 0) return { result: 'failed', message: 'the stream contains no chunk of a chat completion' };
    if (bodies.some((one) => fieldOf(one, 'error')))
      return { result: 'failed', message: 'the stream reports an error' };
    const isComplete = bodies.some((one) => typeof first(fieldOf(one, 'choices'))?.['finish_reason'] === 'string');
    if (events.at(-1) !== '[DONE]' && !isComplete)
      return { result: 'failed', message: 'the stream ended without a finish_reason and without [DONE]' };
    const hasUsage = bodies.some((one) => USAGE_FIELDS.some((field) => isObject(fieldOf(one, field))));
    const words = `${deltas.length} chunks, ${deltas.filter(hasText).length} with text`;
    const note = traits === undefined || hasUsage ? '' : '; no usage, although it was requested';
    return { result: 'passed', message: `${words}${note}`, found: { hasUsage } };
  });
}

/**
 * A target that answers to any name looks the same with another model than the bound one. So it must prove which model
 * it has.
 */
async function unknownModel(checked: CheckSubject): Promise<CallResult> {
  const { target, traits, isAdopted } = checked;
  const result = await askForUnknown(checked);
  const { unknownModel: observed } = result.found ?? {};
  if (traits !== undefined || !isAdopted || observed === undefined || observed === 'rejects') return result;
  const { found } = await listModels(checked);
  if (!isListed(target.model, found?.models ?? [])) return result;
  return { ...result, result: 'not_applicable', message: `it ${DOES[observed]}; its list of models includes this one` };
}

function askForUnknown({ target, traits, signal }: CheckSubject): Promise<CallResult> {
  const { path, body } = SERVED_REQUESTS[mainOf(traits?.serves ?? [])];
  return callEngine(target, { path, body: { model: UNKNOWN_MODEL, ...body }, signal }, (answer) => {
    const observed = observedOf(answer);
    const found: ServerFindings = observed === undefined ? {} : { unknownModel: observed };
    const declared = traits?.unknownModel ?? 'rejects';
    if (declared === 'rejects') {
      if (observed === 'rejects') return { result: 'passed', message: `rejected with ${answer.status}`, found };
      return { ...failed(answer, 'a rejection (4xx) with an error object'), found };
    }
    if (isOutageStatus(answer.status)) return failed(answer, 'a rejection or a result');
    const did = observed === undefined ? `returned ${answer.status}` : DOES[observed];
    if (declared === 'unknown')
      return { result: 'not_applicable', message: `its behaviour for unknown names is not declared; it ${did}`, found };
    const surprise = observed === declared ? '' : `, although its declaration says that it ${DOES[declared]}`;
    return { result: 'not_applicable', message: `it ${did}${surprise}; its identity is proven in another way`, found };
  });
}

const DOES = {
  rejects: 'rejects unknown names',
  ignores: 'responds to any name',
  echoes: 'responds to any name and repeats it',
} as const;

function observedOf(answer: EngineAnswer): 'rejects' | 'ignores' | 'echoes' | undefined {
  const body = answerJson(answer);
  const hasError = errorTextOf(answer.text) !== undefined;
  // Some servers report errors with status 200.
  if (answer.status === 200 && isObject(body) && body['error'] && hasError) return 'rejects';
  if (answer.status === 200) return fieldOf(body, 'model') === UNKNOWN_MODEL ? 'echoes' : 'ignores';
  return isRefusal(answer) && hasError ? 'rejects' : undefined;
}

function isRefusal({ status }: EngineAnswer): boolean {
  return status >= 400 && status < 500 && ![401, 403, 429].includes(status);
}

function failed({ status }: EngineAnswer, wanted: string): CheckOutcome {
  return {
    result: 'failed',
    message: status === 200 ? `the response is not ${wanted}` : `returned ${status} instead of ${wanted}`,
  };
}
