import type { Schemas } from '@slipway/sdk';
import { oneLine } from '../../../ui/text/one-line.js';

/** An argument as the template of its engine declares it. */
export type EngineArgument = Schemas['EngineArgDto'];

const TYPES: Record<string, string> = {
  string: 'Text or number',
  integer: 'Whole number',
  number: 'Number',
  boolean: 'True or false',
  choice: 'One of the choices',
  json: 'JSON object or list',
};
const MOST_TEXT = 60;

const valueText = (value: unknown): string => oneLine(value, MOST_TEXT);
const isSet = (value: unknown): boolean => value !== undefined && value !== null;

/** Returns the help of an argument in sentences: its type, its limits, its default, and what it is for. */
export function argumentHelp(arg: EngineArgument): string {
  const { type, min, max, default: preset, at_least, choices, tune, quality, reason } = arg;
  const range = [min !== undefined && `from ${min}`, max !== undefined && `${min === undefined ? 'up ' : ''}to ${max}`];
  const sentences = [
    reason && reason.charAt(0).toUpperCase() + reason.slice(1),
    [TYPES[type] ?? type, ...range.filter(Boolean)].join(' '),
    at_least && `At least the value of ${at_least}`,
    isSet(preset) && `Default: ${valueText(preset)}`,
    Array.isArray(tune) &&
      tune.length > 0 &&
      !Array.isArray(choices) &&
      `Worth trying: ${tune.map(valueText).join(', ')}`,
    quality && 'May change the quality of the responses',
  ];
  return sentences
    .filter((one): one is string => Boolean(one))
    .map((one) => `${one.replace(/\.$/, '')}.`)
    .join(' ');
}

/** Returns what is wrong with a typed value; undefined if nothing is. Shown while it is typed; the api decides finally. */
export function argumentFault({ type, min, max }: EngineArgument, text: string): string | undefined {
  if (text === '') return undefined;
  if (type === 'json') return jsonFault(text);
  if (type !== 'integer' && type !== 'number') return undefined;
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value)) return 'Enter a number';
  if (type === 'integer' && !Number.isInteger(value)) return 'Enter a whole number';
  if (min !== undefined && value < min) return `At least ${min}`;
  if (max !== undefined && value > max) return `At most ${max}`;
  return undefined;
}

function jsonFault(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? undefined : 'Enter a JSON object or list';
  } catch {
    return 'Enter valid JSON';
  }
}
