/** An error of a model server, read from any of the forms that servers use. */
export interface EngineError {
  message: string;
  type: string | null;
  code: string | number | null;
  param: string | null;
  /** Further plain members, such as the length of a prompt. */
  details: Readonly<Record<string, string | number | boolean | null>>;
}

/** Kinds of errors that concern the request, whatever the server calls them. */
export type ErrorKind = 'context_length' | 'content_filter' | 'rate_limit' | 'unsupported_content' | 'model_missing';

type JsonObject = Readonly<Record<string, unknown>>;

const MAX_MESSAGE = 2_000;
/** The part of an HTML page that is searched for its title. */
const MAX_PAGE = 64 * 1024;
const MAX_LIST = 8;

/** Reads the body of an error: JSON of any form, the title of a page, or text. */
export function errorInText(text: string): EngineError {
  const parsed = parsedJson(text);
  const found = parsed === undefined ? undefined : (errorInValue(parsed, true) ?? errorOf(scalarText(parsed) ?? ''));
  if (found) return found;
  const trimmed = text.trim();
  if (!trimmed.startsWith('<')) return errorOf(trimmed);
  const page = trimmed.slice(0, MAX_PAGE);
  return errorOf(contentOf(page, 'title') ?? contentOf(page, 'h1') ?? textOfPage(page));
}

/** Returns undefined if the text is no JSON. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function textOfPage(page: string): string {
  return /<(script|style)/i.test(page)
    ? ''
    : page
        // Without `<` inside a tag: otherwise each `<` would be read up to the end of the page.
        .replace(/<[^<>]*>/g, ' ')
        .replace(/\s+/g, ' ')
        .trim();
}

/** The text of the first element of this name, up to the next tag. */
function contentOf(page: string, name: 'title' | 'h1'): string | undefined {
  const start = page.search(name === 'title' ? /<title[\s>]/i : /<h1[\s>]/i);
  const from = start < 0 ? -1 : page.indexOf('>', start);
  const to = from < 0 ? -1 : page.indexOf('<', from);
  return to < 0 ? undefined : page.slice(from + 1, to).trim();
}

/**
 * Returns the error that a JSON value carries, or undefined if it carries none.
 * @param isError whether the value is known to be an error, so that `{message}` alone is one
 */
export function errorInValue(value: unknown, isError: boolean): EngineError | undefined {
  if (Array.isArray(value)) return errorInList(value, isError);
  const object = objectOf(value);
  if (!object) return undefined;
  const isAnswer = !isError && ('choices' in object || 'data' in object || 'results' in object);
  const { error } = object;
  if (isSet(error)) {
    const inner = typeof error === 'string' ? undefined : errorInValue(error, true);
    const outer = plainError({ ...object, message: scalarText(error) ?? object['message'] });
    if (!inner) return outer;
    // Some servers write the code next to the object.
    return { ...inner, type: inner.type ?? outer.type, code: inner.code ?? outer.code };
  }
  if (isAnswer) return undefined;
  for (const name of ['errors', 'detail', 'details']) {
    const list = object[name];
    if (!isSet(list)) continue;
    const inner = typeof list === 'string' ? errorOf(list) : errorInValue(list, true);
    if (inner) return isSet(object['message']) ? { ...plainError(object), param: inner.param } : inner;
  }
  const isFlat = object['object'] === 'error' || object['type'] === 'error' || 'error_type' in object;
  const hasMessage = ['message', 'msg', 'title', 'reason'].some((name) => scalarText(object[name]));
  if (
    isError ? hasMessage || isSet(object['code']) || isSet(object['type']) : isFlat || (hasMessage && !('id' in object))
  )
    return plainError(object);
  return isError || 'error' in object ? errorOf('') : undefined;
}

function errorInList(list: readonly unknown[], isError: boolean): EngineError | undefined {
  const errors = list
    .slice(0, MAX_LIST)
    .map((one) => (typeof one === 'string' && isError ? errorOf(one) : errorInValue(one, isError)))
    .filter((one) => one !== undefined);
  const [first] = errors;
  if (!first) return undefined;
  const messages = [...new Set(errors.map(({ message }) => message))].filter((one) => one !== '');
  return { ...first, message: messages.join('; ').slice(0, MAX_MESSAGE) };
}

function errorOf(message: string): EngineError {
  return { message: message.slice(0, MAX_MESSAGE), type: null, code: null, param: null, details: {} };
}

function plainError(object: JsonObject): EngineError {
  const message = ['message', 'msg', 'title', 'reason'].map((name) => scalarText(object[name])).find(Boolean) ?? '';
  const { code, loc } = object;
  const details: Record<string, string | number | boolean | null> = {};
  for (const [name, value] of Object.entries(object))
    if (!READ_MEMBERS.has(name) && (value === null || typeof value !== 'object') && value !== undefined)
      details[name] = value as string | number | boolean | null;
  return {
    message: message.slice(0, MAX_MESSAGE),
    type: scalarText(object['type']) ?? scalarText(object['error_type']) ?? null,
    code: typeof code === 'string' || typeof code === 'number' ? code : null,
    param: scalarText(object['param']) ?? (Array.isArray(loc) ? locationOf(loc) : null),
    details,
  };
}

const READ_MEMBERS: ReadonlySet<string> = new Set([
  'error',
  'error_type',
  'message',
  'msg',
  'title',
  'reason',
  'type',
  'code',
  'param',
  'object',
]);

/** FastAPI names the wrong parameter as a path: `["body", "messages", 0]`. */
function locationOf(loc: readonly unknown[]): string | null {
  return (loc.find((one) => typeof one === 'string' && one !== 'body') as string | undefined) ?? null;
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false && value !== '' && value !== 0;
}

function scalarText(value: unknown): string | undefined {
  if (typeof value === 'string' && value !== '') return value;
  return typeof value === 'number' ? String(value) : undefined;
}

function objectOf(value: unknown): JsonObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
}

const CONTEXT_CODE = /context_?(length|size|window)|prompt_too_long|string_above_max_length/i;
const CONTEXT_TEXT =
  /(maximum|max|exceed|larger|longer|too long|available|limit)[^.]{0,120}\bcontext\b|\bcontext\b[^.]{0,120}(exceed|too long|too small|overflow|length|limit|is only)|(prompt|input|inputs)\b[^.]{0,60}(too long|longer than|exceed|must have less than|maximum)[^.]{0,80}(token|model|length)|max_model_len|inputs\W.{0,20}max_new_tokens/i;
const FILTER_CODE = /content_?(filter|policy|management)|moderation|responsible_?ai|safety/i;
const FILTER_TEXT = /content (filter|policy|management)|moderation|flagged|safety (system|policy|filter)/i;
const RATE_CODE = /rate_?limit|too_many_requests|throttl|resource_exhausted|insufficient_quota|quota_exceeded/i;
const CONTENT = 'image|picture|vision|audio|video|multi-?modal|file|mmproj';
const CONTENT_CODE = /unsupported_(content|image|audio|modality|media)|image_not_supported/i;
const CONTENT_TEXT = new RegExp(
  `(${CONTENT})[^.]{0,80}(not supported|unsupported|not support|only text|not available|not enabled)|(not support|unsupported|cannot (read|process|accept)|no support for|not a|at most 0|without)[^.]{0,60}\\b(${CONTENT})`,
  'i',
);
const MODEL_CODE =
  /model_?(is_)?(not_?(found|exist|available|loaded|supported)|missing|unknown|does_not_exist)|(unknown|invalid|no_such)_?model/i;
const MODEL_TEXT =
  /\bmodels?\b.{0,200}?\b(not (found|exist|loaded|available|served|known)|does(n't| not) exist|is unknown|no longer (exists|available))|\b(no such|unknown|invalid|could not find|cannot find|failed to find)( the)? model\b|\bno models? (is |are )?loaded/i;

/** Returns what an error means for the request; null if it is of no known kind. */
export function errorKind(error: EngineError): ErrorKind | null {
  const names = `${error.code ?? ''} ${error.type ?? ''}`;
  const text = error.message.slice(0, 600);
  if (CONTEXT_CODE.test(names)) return 'context_length';
  if (FILTER_CODE.test(names)) return 'content_filter';
  if (RATE_CODE.test(names) || error.code === 429) return 'rate_limit';
  if (MODEL_CODE.test(names)) return 'model_missing';
  if (CONTENT_CODE.test(names)) return 'unsupported_content';
  if (CONTEXT_TEXT.test(text)) return 'context_length';
  if (CONTENT_TEXT.test(text)) return 'unsupported_content';
  if (MODEL_TEXT.test(text)) return 'model_missing';
  if (FILTER_TEXT.test(text)) return 'content_filter';
  return /\brate limit|too many requests/i.test(text) ? 'rate_limit' : null;
}

/** The lengths that an error of kind `context_length` names, in tokens. */
export function contextNumbers(error: EngineError): { limit: number | null; requested: number | null } {
  const { details, message } = error;
  const given = (...names: string[]): number | null => {
    for (const name of names) if (typeof details[name] === 'number') return details[name];
    return null;
  };
  const found = (...patterns: RegExp[]): number | null => {
    for (const pattern of patterns) {
      const number = Number(pattern.exec(message)?.[1]?.replaceAll(',', '') ?? NaN);
      if (Number.isSafeInteger(number)) return number;
    }
    return null;
  };
  return {
    limit:
      given('n_ctx', 'max_model_len', 'max_context_length', 'context_length') ??
      found(
        /(?:context|model)[^.;]{0,40}?(?:length|size|window|limit|len)[^.;\d]{0,30}(\d[\d,]{0,20})/i,
        /(?<![\d,])(\d[\d,]{0,20})[- ]tokens?[^.;\d]{0,20}context/i,
        /(?:maximum|max|at most|limit|less than|<=)[^.;\d]{0,40}(\d[\d,]{0,20})/i,
      ),
    requested:
      given('n_prompt_tokens', 'prompt_tokens', 'requested_tokens') ??
      found(
        /(?:requested|given|got|resulted in|passed|request has|prompt has|request \(|prompt \(|contains|input length|inputs? tokens?)[^.;\d]{0,40}(\d[\d,]{0,20})/i,
        /(?:prompt|input|request)[^.;\d]{0,40}(\d[\d,]{0,20})[^.;\d]{0,10}(?:tokens|>)/i,
      ),
  };
}
