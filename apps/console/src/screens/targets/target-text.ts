import type { Schemas } from '@slipway/sdk';

type Arg = Pick<Schemas['EngineArgDto'], 'min' | 'max' | 'choices' | 'at_least'>;

/** For a value in an operator's configuration: any JSON. */
const MOST_VALUE = 200;

export function argumentValueText(value: unknown): string {
  if (value === undefined || value === null) return '';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > MOST_VALUE ? `${text.slice(0, MOST_VALUE)}…` : text;
}

/** Formats the allowed values of an argument: its choices, or its range. */
export function rangeText({ min, max, choices, at_least }: Arg): string {
  const parts = [
    Array.isArray(choices) ? choices.map(argumentValueText).join(', ') : '',
    min !== undefined && max !== undefined ? `${min} to ${max}` : '',
    min !== undefined && max === undefined ? `from ${min}` : '',
    min === undefined && max !== undefined ? `up to ${max}` : '',
    at_least ? `not below ${at_least}` : '',
  ];
  return parts.filter(Boolean).join('; ').slice(0, MOST_VALUE);
}

export function instanceCapacityText({
  in_use,
  max_instances,
}: Pick<Schemas['TargetCapacityDto'], 'in_use' | 'max_instances'>): string {
  if (max_instances === null) return `${in_use} in use, no limit`;
  return `${in_use} of ${max_instances} in use`;
}

/** Gibibytes, as the makers of devices count. */
export const memoryText = (mb: number | null): string => (mb === null ? '?' : `${(mb / 1024).toFixed(1)} GiB`);

type Device = Pick<Schemas['TargetDeviceDto'], 'holders' | 'problem' | 'foreign_mb'>;

/** Returns a device's state in one word, the most important one for a person who wants to start something on it. */
export function deviceState({
  holders,
  problem,
  foreign_mb,
}: Device): 'unavailable' | 'in use' | 'used by others' | 'free' {
  if (problem !== null) return 'unavailable';
  if (holders.length > 0) return 'in use';
  return foreign_mb > 0 ? 'used by others' : 'free';
}
