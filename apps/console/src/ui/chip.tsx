import type { ReactNode } from 'react';
import { classes } from './classes.js';

export type Tone = 'good' | 'warn' | 'bad' | 'info' | 'plain';

const TONES: Record<Tone, string> = {
  good: 'bg-good-soft text-good',
  warn: 'bg-warn-soft text-warn',
  bad: 'bg-bad-soft text-bad',
  info: 'bg-info-soft text-info',
  plain: 'bg-sunken text-soft',
};

/**
 * Every status word of the api that the console shows, by the attention that it
 * needs. A word that a later api adds is plain.
 */
const TONE_OF: Record<string, Tone> = {
  ...tones(
    'good',
    'active',
    'succeeded',
    'ready',
    'available',
    'qualified',
    'published',
    'approved',
    'healthy',
    'running',
    'delivered',
    'passed',
    'pass',
    'ok',
    'synced',
  ),
  ...tones(
    'warn',
    'paused',
    'waiting',
    'degraded',
    'cancelling',
    'draining',
    'unqualified',
    'suspended',
    'deprecated',
    'stale',
    'standby',
    'waiting_for_device',
    'waiting_for_place',
    'inconclusive',
    'not_comparable',
    'superseded',
  ),
  ...tones(
    'bad',
    'failed',
    'unhealthy',
    'crashed',
    'error',
    'revoked',
    'unavailable',
    'rejected',
    'expired',
    'breached',
    'fail',
    'exited',
    'attempts_exhausted',
  ),
  ...tones(
    'info',
    'progressing',
    'creating',
    'provisioning',
    'starting',
    'pending',
    'deleting',
    'stopping',
    'undone',
    'draft',
  ),
};

function tones(tone: Tone, ...words: string[]): Record<string, Tone> {
  return Object.fromEntries(words.map((word) => [word, tone]));
}

export const toneOf = (word: string): Tone => TONE_OF[word] ?? 'plain';

/** A status in the api's words, coloured by its meaning. */
export function Chip({ word, tone, children }: { word: string; tone?: Tone; children?: ReactNode }) {
  return (
    <span
      className={classes(
        'inline-flex items-center rounded-full px-2 py-0.5 text-xs font-medium whitespace-nowrap',
        TONES[tone ?? toneOf(word)],
      )}
    >
      {children ?? word.replaceAll('_', ' ')}
    </span>
  );
}
