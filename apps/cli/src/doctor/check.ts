import type { Slipway } from '@slipway/sdk';
import { reasonOf } from '../failure-lines.js';
import type { Environment } from '../terminal.js';

export interface Finding {
  check: string;
  /** `skipped`: there is nothing to look at here. */
  verdict: 'ok' | 'warning' | 'fault' | 'skipped';
  message: string;
  /** The command that mends it. */
  remedy?: string;
}
export type CheckResult = Omit<Finding, 'check'>;

/** What the checks look at. */
export interface Surroundings {
  env: Environment;
  cwd: string;
  /** Where the api is, or would be. */
  apiUrl: string;
  /** Whether that is this machine, where `npm start` would mend it. */
  isLocal: boolean;
  /** Fails where nobody is logged in. */
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

/** All at once, in the order of the list. One that hangs or fails is a finding like any other. */
export function findingsOf(
  checks: readonly Check[],
  around: Surroundings,
  { limitMs = CHECK_LIMIT_MS, signal }: { limitMs?: number; signal: AbortSignal },
): Promise<Finding[]> {
  return Promise.all(
    checks.map(async ({ name, look }) => {
      const limit = AbortSignal.any([signal, AbortSignal.timeout(limitMs)]);
      const isOver = new Promise<never>((_resolve, reject) => {
        limit.addEventListener('abort', () => reject(new Error(`no response within ${limitMs / 1_000} s`)), {
          once: true,
        });
      });
      // It goes on to be awaited by nobody where the check was faster.
      isOver.catch(() => undefined);
      const found = await Promise.race([look(around, limit), isOver]).catch((error: unknown): CheckResult =>
        warning(reasonOf(error), `slipway doctor -v`),
      );
      return { check: name, ...found };
    }),
  );
}
