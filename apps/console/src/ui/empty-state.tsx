import type { ReactNode } from 'react';
import { CopyButton } from './copy.js';

/** An empty list: what it would show, and the command that makes the first one. */
export function EmptyState({ title, command, children }: { title: string; command?: string; children?: ReactNode }) {
  return (
    <div className="flex flex-col items-center gap-2 rounded-md border border-dashed border-line-strong p-6 text-center">
      <p className="font-medium">{title}</p>
      {children}
      {command && (
        <p className="flex max-w-full items-center gap-2">
          <code className="overflow-x-auto rounded bg-sunken px-2 py-1 text-left text-xs" tabIndex={0}>
            {command}
          </code>
          <CopyButton text={command} label="Copy command" />
        </p>
      )}
    </div>
  );
}
