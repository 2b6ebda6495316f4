import { Dialog as Base } from '@base-ui/react/dialog';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Command } from 'cmdk';
import { useEffect, useRef, type ReactNode } from 'react';
import { slipway } from '../api/client.js';
import { waitingCount, waitingPlansQuery } from '../api/plans.js';
import { whoQuery } from '../api/who.js';
import { toggleClock } from '../ui/time.js';
import { menuEntriesOf, type MenuEntry } from './navigation.js';

/** The time after the first letter in which the second one counts. */
const SEQUENCE_MS = 1000;

/** Opens every screen by the keyboard: Ctrl-K or ⌘K opens the palette, `g` and a letter opens a screen directly. */
export function Palette({ isOpen, onOpenChange }: { isOpen: boolean; onOpenChange: (open: boolean) => void }) {
  const navigate = useNavigate();
  const { data: who } = useQuery(whoQuery);
  const deployments = useQuery({
    queryKey: ['palette', 'deployments'],
    queryFn: async ({ signal }) => (await slipway.deployments.list({ limit: 100, signal })).data,
    enabled: isOpen,
  });
  const { data: waiting } = useQuery({ ...waitingPlansQuery, enabled: isOpen });
  const entries = menuEntriesOf(who);
  useKeys(
    entries,
    (to) => void navigate({ to }),
    () => onOpenChange(true),
  );

  const go = (to: string) => {
    onOpenChange(false);
    void navigate({ to });
  };
  return (
    <Base.Root open={isOpen} onOpenChange={onOpenChange}>
      <Base.Portal>
        <Base.Backdrop className="fixed inset-0 z-40 bg-black/50" />
        <Base.Popup className="fixed top-24 left-1/2 z-50 w-[calc(100vw-1.5rem)] max-w-xl -translate-x-1/2 rounded-lg border border-line bg-panel shadow-xl">
          <Base.Title className="sr-only">Go to</Base.Title>
          <Command label="Go to" loop>
            <Command.Input
              autoFocus
              placeholder="Search pages and deployments…"
              className="h-11 w-full border-b border-line bg-transparent px-4 outline-none"
            />
            <Command.List className="max-h-80 overflow-y-auto p-2">
              <Command.Empty className="p-3 text-sm text-soft">No results.</Command.Empty>
              <Command.Group heading="Pages">
                {entries.map(({ to, label, keys }) => (
                  <Row key={to} value={label} onSelect={() => go(to)}>
                    {label}
                    {to === '/plans' && waiting && waiting.plans.length > 0 && (
                      <span className="ml-2 text-xs text-soft">{waitingCount(waiting)} waiting for approval</span>
                    )}
                    <kbd className="ml-auto text-xs text-soft">{keys.split('').join(' ')}</kbd>
                  </Row>
                ))}
              </Command.Group>
              <Command.Group heading="Deployments">
                {(deployments.data ?? []).map(({ name }) => (
                  <Row key={name} value={`deployment ${name}`} onSelect={() => go(`/deployments/${name}`)}>
                    {name}
                  </Row>
                ))}
              </Command.Group>
              <Command.Group heading="Preferences">
                <Row
                  value="times in utc"
                  onSelect={() => {
                    toggleClock();
                    onOpenChange(false);
                  }}
                >
                  Switch between relative and UTC times
                </Row>
              </Command.Group>
            </Command.List>
          </Command>
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}

function Row({ value, onSelect, children }: { value: string; onSelect: () => void; children: ReactNode }) {
  return (
    <Command.Item
      value={value}
      onSelect={onSelect}
      className="flex cursor-pointer items-center rounded px-2 py-1.5 text-sm data-[selected=true]:bg-accent-soft"
    >
      {children}
    </Command.Item>
  );
}

function useKeys(entries: readonly MenuEntry[], go: (to: string) => void, open: () => void): void {
  const now = useRef({ entries, go, open });
  now.current = { entries, go, open };
  useEffect(() => {
    let first = { key: '', at: 0 };
    const onKey = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault();
        now.current.open();
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      const both = first.key + event.key;
      const entry = event.timeStamp - first.at < SEQUENCE_MS && now.current.entries.find(({ keys }) => keys === both);
      first = { key: event.key, at: event.timeStamp };
      if (entry) now.current.go(entry.to);
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}
