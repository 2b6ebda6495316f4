import type { DeploymentEvent } from '@slipway/sdk';
import { oneLine } from '../../ui/text/one-line.js';

/** The fields that are shown on an event's line; the ones that most kinds have come first. */
const FIRST = ['step', 'status', 'verdict', 'reason', 'revision', 'state', 'message', 'outcome', 'generation'];
const MOST_FIELDS = 4;

export function eventLine({ data }: Pick<DeploymentEvent, 'data'>): string {
  const told = FIRST.filter((name) => data[name] !== undefined && data[name] !== null && data[name] !== '');
  const names = told.length > 0 ? told : Object.keys(data);
  return names
    .slice(0, MOST_FIELDS)
    .map((name) => `${name} ${oneLine(data[name], 80)}`)
    .join(', ');
}

/** Whether all words of a filter occur in the event. */
export function isEventMatch(event: DeploymentEvent, filter: string): boolean {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return true;
  const text =
    `${event.sequence} ${event.type} ${event.actor} ${event.subject} ${JSON.stringify(event.data)}`.toLowerCase();
  return words.every((word) => text.includes(word));
}
