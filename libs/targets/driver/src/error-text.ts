import { redactSecrets } from './logs.js';
import { showable } from './model-names.js';
import { parseText, isObject } from './served-requests.js';

const MOST_CHARACTERS = 200;
/** More than enough of a text, so that a secret is never cut in two before it is removed. */
const MOST_READ = 16 * 1024;
/** Members of an error object that have its text, in the order of preference. */
const TEXTS = ['message', 'detail', 'error', 'errors', 'msg', 'title'];
/** No error of an engine is nested deeper. */
const MOST_LEVELS = 5;

/**
 * The text of an error, in any of the shapes in which servers send one: `{error: {message}}`, `{error: "…"}`,
 * `{message}`, `{detail}` as a text or a list, `{errors: […]}`, a list, or plain text. It is short, on one line, and
 * without secrets. Undefined if the answer has no text.
 * @param secret a value that must not be shown, in addition to everything that looks like a secret
 */
export function errorTextOf(answer: string, secret?: string): string | undefined {
  const body = parseText(answer);
  const found = body === undefined ? plainText(answer) : textIn(body, MOST_LEVELS);
  const shown = secret ? found?.replaceAll(secret, '[redacted]') : found;
  const text = redactSecrets(shown ?? '')
    .replace(/\s+/g, ' ')
    .trim();
  if (text === '') return undefined;
  return showable(text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text);
}

function plainText(answer: string): string {
  return answer.slice(0, MOST_READ).replace(/<[^>]*>/g, ' ');
}

function textIn(value: unknown, levels: number): string | undefined {
  if (typeof value === 'string') return value.slice(0, MOST_READ);
  if (levels === 0) return undefined;
  if (Array.isArray(value)) return textIn(value[0], levels - 1);
  if (!isObject(value)) return undefined;
  for (const name of TEXTS) {
    const text = textIn(value[name], levels - 1);
    if (text) return text;
  }
  return undefined;
}
