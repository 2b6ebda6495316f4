import type { ReactNode } from 'react';
import { CommandLine } from './command-line.js';

/** An empty list: what it would show, and the command that makes the first one. */
export function EmptyState({ title, command, children }: { title: string; command?: string; children?: ReactNode }) {
  return (
    <div className="flex flex-col items-center gap-2 rounded-md border border-dashed border-line-strong p-6 text-center">
      <p className="font-medium">{title}</p>
      {children}
      {command && <CommandLine command={command} />}
    </div>
  );
}
