import { useFreshness } from '../api/freshness.js';
import { useNow } from '../ui/time.js';
import { lengthText } from '../ui/time-text.js';

/** Says when what is on the screen is old, and how old. It goes by itself with the next answer. */
export function FreshnessBanner() {
  const { since, failing } = useFreshness();
  const now = useNow();
  if (!failing) return null;
  const age = Number.isFinite(since) ? `What you see is ${lengthText(now - since)} old.` : 'Nothing has been read yet.';
  return (
    <div role="status" aria-live="polite" className="border-b border-bad bg-bad-soft px-4 py-2 text-sm text-bad">
      <strong>The api does not answer as it should.</strong> {age} {failing.message} It is asked again by itself.
    </div>
  );
}
