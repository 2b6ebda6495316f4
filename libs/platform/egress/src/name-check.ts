import { inTime, resolveWithSystem, type ResolveHost } from './guarded-dispatcher.js';

/** A client waits for the answer. */
const LIMIT_MS = 1_000;
/** Look-ups of this process for all checks. The system's resolver uses threads, of which the process has few. */
const MOST_LOOKUPS = 2;

let running = 0;
const waiting: (() => void)[] = [];

/** Resolves the names of URLs that clients have just named. It takes little time, whatever the name's servers do. */
export class NameCheck {
  constructor(private readonly resolveHost: ResolveHost = resolveWithSystem) {}

  /** @throws if the name has no address, or is not resolved in time */
  async resolve(host: string): Promise<readonly { address: string }[]> {
    let hasEnded = false;
    // A check that ended while it waited for its turn needs no look-up.
    const resolved = oneOfFew(() => (hasEnded ? Promise.resolve([]) : this.resolveHost(host)));
    return inTime(resolved, LIMIT_MS).finally(() => (hasEnded = true));
  }
}

async function oneOfFew<T>(work: () => Promise<T>): Promise<T> {
  if (running >= MOST_LOOKUPS) await new Promise<void>((resolve) => waiting.push(resolve));
  else running += 1;
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    // It keeps the slot.
    if (next) next();
    else running -= 1;
  }
}
