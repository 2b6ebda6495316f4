import { remedyOf } from './remedies.js';
import type { Session } from './session.js';
import { wordsOf } from './terminal.js';

/**
 * Prints the warnings of an answer. The server has already accepted the request, so nothing in them may end the
 * command: a warning may have no message, and a later api may send another form.
 */
export function showWarnings({ output }: Session, answer: unknown): void {
  const { warnings } = (answer ?? {}) as { warnings?: unknown };
  if (!Array.isArray(warnings)) return;
  for (const warning of warnings) output.warn(warningText(warning));
}

/** An unknown field has a message only if the api can guess which field was meant. */
function warningText(warning: unknown): string {
  if (typeof warning !== 'object' || warning === null) return wordsOf(warning) || 'The api sent an empty warning.';
  const { code, field, message } = warning as Record<string, unknown>;
  const [about, said] = [wordsOf(field), remedyOf(wordsOf(message))];
  if (code === 'unknown_field') return `The api ignored the unknown field ${about}${said ? `; ${said}` : '.'}`;
  return said || [wordsOf(code), about].filter(Boolean).join(': ') || wordsOf(warning);
}
