import { Fragment, type ReactNode } from 'react';

/** Names and their values, in the given order. An empty value is left out. */
export function Facts({ of }: { of: Record<string, ReactNode> }) {
  const rows = Object.entries(of).filter(([, value]) => value !== undefined && value !== null && value !== false);
  return (
    <dl className="grid grid-cols-[auto_1fr] gap-x-3 gap-y-1 text-sm">
      {rows.map(([name, value]) => (
        <Fragment key={name}>
          <dt className="text-soft">{name}</dt>
          <dd className="min-w-0 break-words">{value}</dd>
        </Fragment>
      ))}
    </dl>
  );
}
