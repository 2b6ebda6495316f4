import { homedir } from 'node:os';
import type { ProvisionPoint } from './lifecycle/engine-start.js';
import type { PortRange } from './lifecycle/port-reservations.js';

export interface ProcessDriverOptions {
  /** SLIPWAY_HOME; every worker that shares the target shares it. Instances live in `<home>/instances/<target>/<id>`. */
  home: string;
  /** Working folder of the engines, against which relative file names of a command resolve. The worker's by default. */
  cwd?: string;
  /** Environment of every engine beside what its spec sets. By default PATH, HOME and LANG; never the worker's own. */
  environment?: Record<string, string>;
  /** From SIGTERM to SIGKILL; 30 by default. */
  graceSeconds?: number;
  /** How long a terminated instance's folder with its logs is kept; 604,800 (a week) by default. */
  retainSeconds?: number;
  /** Bound of each log file; 16 MiB by default. */
  maxLogBytes?: number;
  /** Ports for engines; 20000 to 29999 by default. */
  ports?: PortRange;
  /** Where programs that list devices are looked for, as the variable PATH; that of the engines by default. */
  toolPath?: string;
  /** A POSIX shell; `/bin/sh` by default. */
  shell?: string;
  /** Whether engines get control groups of their own where the host allows it (true). */
  cgroups?: boolean;
  /** Whether this process starts and stops engines (true); one that only asks and checks need not be allowed to. */
  starts?: boolean;
  /** Value of one of the operator's secrets, for `secret_env` of templates. @throws Error where it has none */
  secret?: (name: string) => string;
  /** Named points at which a test may hold or kill the process. */
  pausePoint?: (name: ProvisionPoint) => Promise<void>;
}

export const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** What a program needs to find others and its caches. The worker's own environment holds secrets and stays where it is. */
export function defaultEnvironment(): Record<string, string> {
  return { PATH: DEFAULT_PATH, HOME: homedir(), LANG: 'C.UTF-8' };
}
