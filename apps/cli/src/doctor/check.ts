import type { Slipway } from '@slipway/sdk';
import { reasonOf } from '../failure-lines.js';
import type { Environment } from '../terminal.js';

export interface Finding {
  check: string;
  /** `skipped`: there is nothing to check here. */
  verdict: 'ok' | 'warning' | 'fault' | 'skipped';
  message: string;
  /** The command that fixes it. */
  remedy?: string;
}
export type CheckResult = Omit<Finding, 'check'>;

/** The environment that the checks inspect. */
export interface Surroundings {
  env: Environment;
  cwd: string;
  /** The address of the api, even if it is not running. */
  apiUrl: string;
  /** The address of the gateway, if anything names it. */
  gatewayUrl?: string;
  /** Calls the stack of this machine directly, and other servers through the proxies of the environment. */
  fetch: typeof fetch;
  /** Whether the api is on this machine, so that starting the stack would fix it. */
  isLocal: boolean;
  /** A stack runs here, and has written its addresses. */
  isRunning: boolean;
  /** Rejects if the user is not logged in. */
  client(): Promise<Slipway>;
}

export interface Check {
  name: string;
  look(around: Surroundings, signal: AbortSignal): Promise<CheckResult>;
}

export const CHECK_LIMIT_MS = 5_000;

export const ok = (message: string): CheckResult => ({ verdict: 'ok', message });
export const skipped = (message: string): CheckResult => ({ verdict: 'skipped', message });
export const warning = (message: string, remedy: string): CheckResult => ({ verdict: 'warning', message, remedy });
export const fault = (message: string, remedy: string): CheckResult => ({ verdict: 'fault', message, remedy });

/**
 * Runs all checks concurrently and returns findings in the order of the list. A
 * check that hangs or fails is a finding too.
 */
export async function findingsOf(
  checks: readonly Check[],
  around: Surroundings,
  { limitMs = CHECK_LIMIT_MS, signal }: { limitMs?: number; signal: AbortSignal },
): Promise<Finding[]> {
  const { timeLimit } = await import('@slipway/sdk');
  return Promise.all(
    checks.map(async ({ name, look }) => {
      const limit = timeLimit(limitMs, signal);
      const isOver = new Promise<never>((_resolve, reject) => {
        limit.signal.addEventListener('abort', () => reject(new Error(`no response within ${limitMs / 1_000} s`)), {
          once: true,
        });
      });
      // If the check is faster, no one awaits this promise, and its rejection must not be unhandled.
      isOver.catch(() => undefined);
      const found = await Promise.race([look(around, limit.signal), isOver])
        .catch((error: unknown): CheckResult => warning(reasonOf(error), `slipway doctor -v`))
        .finally(limit.stop);
      return { check: name, ...found };
    }),
  );
}
