import { isSlipwayError } from '@slipway/sdk';
import { useQuery } from '@tanstack/react-query';
import { slipway } from '../../api/client.js';
import { lineThrough, rateText, ratesOf } from './sparkline-points.js';

const WIDTH = 96;
const HEIGHT = 20;
/** The resolution that the line can show for fifteen minutes. */
const STEP_SECONDS = 30;
const RENEWED_MS = 30_000;

/** Shows the requests of the last quarter of an hour. */
export function Sparkline({ name }: { name: string }) {
  const { data: rates } = useQuery({
    queryKey: ['deployment', name, 'sparkline'],
    queryFn: async ({ signal }) => {
      try {
        return ratesOf(await slipway.deployments.metrics(name, { step: STEP_SECONDS, signal }));
      } catch (error) {
        // The deployment was deleted since the list was read, or the api has no metrics: no line, and no stale data.
        if (isSlipwayError(error, 'deployment_not_found', 'not_found')) return [];
        throw error;
      }
    },
    refetchInterval: RENEWED_MS,
    staleTime: RENEWED_MS,
  });
  if (!rates || rates.length === 0) return null;
  const most = Math.max(...rates);
  return (
    <span className="flex items-center gap-2 whitespace-nowrap">
      <svg aria-hidden width={WIDTH} height={HEIGHT} className="text-accent">
        <polyline
          points={lineThrough(rates, WIDTH, HEIGHT)}
          fill="none"
          stroke="currentColor"
          strokeWidth={1.5}
          strokeLinejoin="round"
        />
      </svg>
      <span className="text-xs text-soft tabular-nums">{most === 0 ? 'none' : <>up to {rateText(most)}</>}</span>
    </span>
  );
}
