import { Chip, type Tone } from '../ui/chip.js';

const TONES: Record<string, Tone> = { low: 'good', medium: 'warn', high: 'bad' };

/** The risk of a plan, in its author's words. */
export function RiskChip({ level = 'low' }: { level?: string }) {
  return (
    <Chip word={level} tone={TONES[level] ?? 'plain'}>
      {level} risk
    </Chip>
  );
}
