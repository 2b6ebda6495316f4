import { errorInText } from '@slipway/contracts';
import { showable } from './model-names.js';
import { redactSecrets, withoutValue } from './redaction.js';

const MOST_CHARACTERS = 200;

/**
 * The text of an error, in any of the shapes in which servers send one. It is short, on one line, and without secrets.
 * Undefined if the answer has no text.
 * @param secret a value that must not be shown, in addition to everything that looks like a secret
 */
export function errorTextOf(answer: string, secret = ''): string | undefined {
  const { message } = errorInText(answer);
  // The message may itself be cut, far after the part that is shown.
  const text = redactSecrets(withoutValue(message, secret), [secret], message.length > MOST_CHARACTERS)
    .replace(/\s+/g, ' ')
    .trim();
  if (text === '') return undefined;
  return showable(text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text);
}
