import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, Outlet } from '@tanstack/react-router';
import { Clock, LogOut, Menu, Moon, Search, Sun } from 'lucide-react';
import { useState } from 'react';
import { Toaster } from 'sonner';
import { signOut } from '../api/client.js';
import { waitingCount, waitingPlansQuery } from '../api/plans.js';
import { sessionQuery, whoQuery } from '../api/who.js';
import { SessionGate } from '../session/session-gate.js';
import { usePreference } from '../theme/preferences.js';
import { chooseTheme } from '../theme/theme.js';
import { Button } from '../ui/button.js';
import { classes } from '../ui/classes.js';
import { useThemeName } from '../ui/theme-name.js';
import { toggleClock, useNow } from '../ui/time.js';
import { menuEntriesOf } from './navigation.js';
import { Palette } from './palette.js';
import { useFreshness } from '../api/freshness.js';
import { systemQuery } from '../api/system.js';
import { lengthText } from '../ui/text/time-text.js';
import { serviceLags } from './service-lag.js';

/**
 * Shows when the data on the screen is old, or when a part of the service lags, and by how much. It
 * disappears by itself with the next answer.
 */
function FreshnessBanner() {
  const { since, failing } = useFreshness();
  const { data: system } = useQuery(systemQuery);
  const now = useNow();
  // If the api is away, its last report about the other parts is out of date.
  const behind = !failing && system ? serviceLags(system, now) : [];
  return (
    <div role="status" aria-live="polite" className="text-sm text-bad">
      {failing && (
        <p className="border-b border-bad bg-bad-soft px-4 py-2 break-words">
          <strong>The API is not responding correctly.</strong>{' '}
          {Number.isFinite(since)
            ? `The data on this page is ${lengthText(now - since)} old.`
            : 'No data has been loaded yet.'}{' '}
          {failing.message} The page retries automatically.
        </p>
      )}
      {behind.map(({ what, how }) => (
        <p key={what} className="border-b border-bad bg-bad-soft px-4 py-2">
          <strong>{what}.</strong> {how}
        </p>
      ))}
    </div>
  );
}

/** The frame around every screen: the menu, the signed-in person, the age of the data. */
export function Frame() {
  return (
    <SessionGate>
      <Signed />
      <Toaster
        position="bottom-right"
        closeButton
        theme={document.documentElement.classList.contains('dark') ? 'dark' : 'light'}
      />
    </SessionGate>
  );
}

function Signed() {
  const [isMenuOpen, setMenuOpen] = useState(false);
  const [isPaletteOpen, setPaletteOpen] = useState(false);
  return (
    <div className="min-h-screen lg:grid lg:grid-cols-[12rem_1fr]">
      <a
        href="#content"
        className="sr-only focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-50 focus:bg-panel focus:p-2"
      >
        Skip to content
      </a>
      <header className="flex items-center gap-2 border-b border-line bg-panel px-3 py-2 lg:hidden">
        <Button
          kind="quiet"
          aria-label="Menu"
          aria-expanded={isMenuOpen}
          aria-controls="menu"
          icon={<Menu aria-hidden className="size-5" />}
          onClick={() => setMenuOpen(!isMenuOpen)}
        />
        <Link to="/" className="font-semibold">
          Slipway
        </Link>
      </header>
      <aside
        id="menu"
        aria-label="Menu"
        className={classes(
          'flex-col gap-1 border-line bg-panel p-3 lg:sticky lg:top-0 lg:flex lg:h-screen lg:overflow-y-auto lg:border-r',
          isMenuOpen ? 'flex border-b' : 'hidden',
        )}
      >
        <Link to="/" className="mb-2 hidden px-2 text-lg font-semibold lg:block">
          Slipway
        </Link>
        <ScreenMenu onGo={() => setMenuOpen(false)} />
        <Tools onPalette={() => setPaletteOpen(true)} />
      </aside>
      <div className="flex min-w-0 flex-col">
        <FreshnessBanner />
        <main id="content" tabIndex={-1} className="min-w-0 grow p-3 outline-none lg:p-4">
          <Outlet />
        </main>
      </div>
      <Palette isOpen={isPaletteOpen} onOpenChange={setPaletteOpen} />
    </div>
  );
}

function ScreenMenu({ onGo }: { onGo: () => void }) {
  const { data: who } = useQuery(whoQuery);
  return (
    <nav aria-label="Pages">
      <ul className="space-y-0.5">
        {menuEntriesOf(who).map(({ to, label, icon: Icon }) => (
          <li key={to}>
            <Link
              to={to}
              onClick={onGo}
              className="flex items-center gap-2 rounded-md px-2 py-1.5 text-sm hover:bg-sunken"
              activeProps={{ className: 'bg-accent-soft font-medium', 'aria-current': 'page' }}
            >
              <Icon aria-hidden className="size-4" />
              {label}
              {to === '/plans' && <WaitingPlans />}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** Shows how many plans wait for approval; nothing if there are none. */
function WaitingPlans() {
  const { data } = useQuery(waitingPlansQuery);
  if (!data || data.plans.length === 0) return null;
  return (
    <span className="ml-auto rounded-full bg-warn-soft px-1.5 text-xs font-medium text-warn tabular-nums">
      {waitingCount(data)}
      <span className="sr-only"> waiting for approval</span>
    </span>
  );
}

function Tools({ onPalette }: { onPalette: () => void }) {
  const client = useQueryClient();
  const { data: who } = useQuery(whoQuery);
  const isUtc = usePreference('clock') === 'utc';
  const isDark = useThemeName() === 'dark';
  const leave = async () => {
    await signOut();
    await client.invalidateQueries({ queryKey: sessionQuery.queryKey });
  };
  return (
    <div className="mt-auto space-y-1 border-t border-line pt-2">
      <Button
        kind="quiet"
        isSmall
        className="w-full justify-start"
        icon={<Search aria-hidden className="size-4" />}
        onClick={onPalette}
      >
        Go to… <kbd className="ml-auto text-soft">Ctrl K</kbd>
      </Button>
      <Button
        kind="quiet"
        isSmall
        className="w-full justify-start"
        aria-pressed={isUtc}
        icon={<Clock aria-hidden className="size-4" />}
        onClick={toggleClock}
      >
        Show times in UTC
      </Button>
      <Button
        kind="quiet"
        isSmall
        className="w-full justify-start"
        icon={isDark ? <Sun aria-hidden className="size-4" /> : <Moon aria-hidden className="size-4" />}
        onClick={() => chooseTheme(isDark ? 'light' : 'dark')}
      >
        {isDark ? 'Use light theme' : 'Use dark theme'}
      </Button>
      {who && (
        <p className="truncate px-2 text-xs text-soft" title={`${who.actor.id}, tenant ${who.tenant.name}`}>
          {who.tenant.name} · {who.scopes.join(', ')}
        </p>
      )}
      <Button
        kind="quiet"
        isSmall
        className="w-full justify-start"
        icon={<LogOut aria-hidden className="size-4" />}
        onClick={() => void leave()}
      >
        Sign out
      </Button>
    </div>
  );
}
