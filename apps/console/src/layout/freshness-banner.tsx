import { useQuery } from '@tanstack/react-query';
import { useFreshness } from '../api/freshness.js';
import { systemQuery } from '../api/system.js';
import { useNow } from '../ui/time.js';
import { lengthText } from '../ui/time-text.js';
import { serviceLags } from './behind.js';

/** Says when what is on the screen is old, or a part of the service is behind, and by how much. It goes by itself with the next answer. */
export function FreshnessBanner() {
  const { since, failing } = useFreshness();
  const { data: system } = useQuery(systemQuery);
  const now = useNow();
  // What an api that is away said last about the others says nothing now.
  const behind = !failing && system ? serviceLags(system, now) : [];
  return (
    <div role="status" aria-live="polite" className="text-sm text-bad">
      {failing && (
        <p className="border-b border-bad bg-bad-soft px-4 py-2 break-words">
          <strong>The api does not answer as it should.</strong>{' '}
          {Number.isFinite(since) ? `What you see is ${lengthText(now - since)} old.` : 'Nothing has been read yet.'}{' '}
          {failing.message} It is asked again by itself.
        </p>
      )}
      {behind.map(({ what, how }) => (
        <p key={what} className="border-b border-bad bg-bad-soft px-4 py-2">
          <strong>{what}.</strong> {how}
        </p>
      ))}
    </div>
  );
}
