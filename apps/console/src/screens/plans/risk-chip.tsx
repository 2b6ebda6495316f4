import { Chip, type Tone } from '../../ui/chip.js';

const TONES: Record<string, Tone> = { low: 'good', medium: 'warn', high: 'bad' };

export function RiskChip({ level = 'low' }: { level?: string }) {
  return (
    <Chip word={level} tone={TONES[level]}>
      {level} risk
    </Chip>
  );
}
