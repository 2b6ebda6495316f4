import type { ReactNode } from 'react';
import { Chip } from '../../ui/chip.js';
import { CopyButton } from '../../ui/copy.js';
import { Panel } from '../../ui/panel.js';

interface StagePanelProps {
  title: string;
  state: 'upcoming' | 'next' | 'running' | 'done';
  /** The equivalent lines, by the name of their program. */
  lines: { name: string; text: string }[];
  children: ReactNode;
}

const TONES = { upcoming: 'plain', next: 'info', running: 'info', done: 'good' } as const;

/** One of the three clicks: its action, its result, and how to do it without this page. */
export function StagePanel({ title, state, lines, children }: StagePanelProps) {
  return (
    <Panel title={title} note={<Chip word={state} tone={TONES[state]} />}>
      <div className="space-y-3">
        {children}
        {lines.map(({ name, text }) => (
          <div key={name} className="flex items-start gap-1">
            <pre
              tabIndex={0}
              role="region"
              aria-label={`${title}: ${name}`}
              className="min-w-0 grow overflow-x-auto rounded bg-sunken p-2 text-xs"
            >
              {text}
            </pre>
            <CopyButton text={text} label={`Copy as ${name}`} />
          </div>
        ))}
      </div>
    </Panel>
  );
}
