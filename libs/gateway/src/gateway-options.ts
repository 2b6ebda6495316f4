import type { ProxyList } from '@slipway/platform-bounds';
import type { KeyRing, OperatorFileState } from '@slipway/platform-config/load';
import type { Log } from './log.js';
import type { GatewaySettings } from './settings.js';
import type { GuardedDispatcher } from './upstream/instance.js';

/** What a process gives its gateway. */
export interface GatewayOptions {
  databaseUrl: string;
  /** Folder of the installation's data; the snapshot is kept in `gateway/` below it. */
  home: string;
  host: string;
  /** 0 = any free port. */
  port: number;
  /** Makes passports, and opens the credentials of published rows. */
  keyRing: KeyRing;
  /** Who may read /metrics beside admins. */
  metricsToken?: string;
  /** Whose X-Forwarded-For is believed; nobody's without it. */
  trustedProxies?: ProxyList;
  guardedDispatcher: GuardedDispatcher;
  /** How the operator's file stands, for /metrics. */
  operatorFile?: () => OperatorFileState;
  settings?: Partial<GatewaySettings>;
  log: Log;
}
