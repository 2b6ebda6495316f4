import { bytesText } from './file-names.js';

/** Shows the used part of a workspace, in words and as a bar. */
export function CapacityBar({ used, limit }: { used: number; limit: number }) {
  const text = `${bytesText(used)} of ${bytesText(limit)}`;
  return (
    <span className="inline-flex min-w-40 flex-col gap-0.5 text-xs">
      <span className="whitespace-nowrap">{text}</span>
      <meter aria-label={`Used: ${text}`} min={0} max={limit} high={limit * 0.9} value={used} className="h-2 w-full" />
    </span>
  );
}
