import type { Operation } from '@slipway/sdk';
import { Link } from '@tanstack/react-router';

/** The resource of an operation, with a link if it has a screen. */
export function ResourceLink({ of }: { of: Pick<Operation, 'resource_type' | 'resource_name'> }) {
  if (of.resource_type !== 'deployment') return <code className="text-xs wrap-break-word">{of.resource_name}</code>;
  return (
    <Link to="/deployments/$name" params={{ name: of.resource_name }} className="wrap-break-word underline">
      {of.resource_name}
    </Link>
  );
}
