import { useState } from 'react';
import { useNow } from './time.js';
import { lengthText } from './text/time-text.js';

/** Shows that something is loading, and for how long: there is no spinner without a clock. */
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
