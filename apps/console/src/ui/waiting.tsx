import { useState } from 'react';
import { useNow } from './time.js';
import { lengthText } from './text/time-text.js';

/** Something is on its way, and since when: nothing turns without a clock. */
export function Waiting({ for: what }: { for: string }) {
  const [since] = useState(() => Date.now());
  const waited = Math.max(0, useNow() - since);
  return (
    <p role="status" className="text-sm text-soft">
      Waiting for {what}
      {waited >= 1000 && `, ${lengthText(waited)} so far`}
    </p>
  );
}
