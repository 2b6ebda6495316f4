import type { Schemas } from '@slipway/sdk';

type Deployment = Pick<Schemas['DeploymentDto'], 'route' | 'active_revision'>;

/** No route has as many; the rest is told as a number. */
const MOST_TARGETS = 8;

/** Who gets how much of the traffic: the stable revision beside the one that is coming. */
export function TrafficBar({ of: { route, active_revision } }: { of: Deployment }) {
  const targets = (route?.targets ?? []).filter(({ weight }) => weight > 0);
  if (targets.length === 0) return <span className="text-xs text-soft">no traffic</span>;
  return (
    <div className="min-w-40 space-y-1">
      <div aria-hidden className="flex h-2 overflow-hidden rounded-full bg-sunken">
        {targets.slice(0, MOST_TARGETS).map(({ revision, weight }) => (
          <span
            key={revision}
            style={{ width: `${weight}%` }}
            className={revision === active_revision ? 'bg-baseline' : 'bg-candidate'}
          />
        ))}
      </div>
      <p className="text-xs whitespace-nowrap">
        {targets.slice(0, MOST_TARGETS).map(({ revision, weight }, index) => (
          <span key={revision}>
            {index > 0 && ', '}
            <span className="tabular-nums">{weight} %</span> {revision.slice(revision.lastIndexOf('-') + 1)}
          </span>
        ))}
        {targets.length > MOST_TARGETS && `, ${targets.length - MOST_TARGETS} more`}
      </p>
    </div>
  );
}
