import { useSystem } from './deployment-data.js';
import { faultsOf } from './system-faults.js';

/** What else would explain that nothing moves here. That the api itself is away stands around every screen. */
export function SystemNotice() {
  const { data } = useSystem();
  const faults = data ? faultsOf(data) : [];
  if (faults.length === 0) return null;
  return (
    <div role="status" className="mb-2 rounded-md bg-bad-soft px-3 py-1 text-sm font-medium text-bad">
      {faults.map((fault) => (
        <p key={fault}>{fault}</p>
      ))}
    </div>
  );
}
