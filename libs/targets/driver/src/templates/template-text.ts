import { isMisspelling } from '@slipway/platform-config';
import { fillPlaceholders, type PlaceholderValues } from '../placeholders.js';

/** Also those that are spelled wrong; not what stands in the braces of JSON. */
const MEANT_AS_PLACEHOLDER = /\{(\s*[A-Za-z][\w.-]*\s*)\}/g;

/** The elements of a command line; those that are a list are left out together when one of them has no value. */
export function fillCommand(command: readonly (string | string[])[], values: PlaceholderValues): string[] {
  return command.flatMap((element) => {
    const parts = [element].flat().map((part) => fillPlaceholders(part, values));
    return parts.every((part) => part !== undefined) ? parts : [];
  });
}

/** Variables, without those that have no value. */
export function fillEnvironment(env: Record<string, string>, values: PlaceholderValues): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, text]) => {
      const value = fillPlaceholders(text, values);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** What is wrong with the placeholders of a text, one line for each that stands for nothing there. */
export function placeholderProblems(text: string, known: ReadonlySet<string>): string[] {
  return [...text.matchAll(MEANT_AS_PLACEHOLDER)]
    .map((match) => match[1]!)
    .filter((name) => !known.has(name))
    .map((name) => unknownPlaceholder(name, [...known]));
}

function unknownPlaceholder(name: string, known: string[]): string {
  const meant = known.find((one) => isMisspelling(name.trim(), one));
  const hint = meant === undefined ? '' : `; did you mean {${meant}}?`;
  return `uses {${name}}, which stands for nothing${known.length === 0 ? ' here' : ''}${hint}${known.length === 0 ? '' : ` (known: ${known.map((one) => `{${one}}`).join(' ')})`}`;
}
