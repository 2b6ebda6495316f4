import type { TargetConfig, TargetReader } from '@slipway/platform-config';
import type { TargetDriver } from './driver.js';

/** What a driver may use of its process. */
export interface DriverHost {
  /** SLIPWAY_HOME, absolute; every worker of the host shares it. */
  home: string;
  /** The worker's PATH, on which programs of the host are looked for. */
  path?: string;
  /** Ports of this machine that no connection may lead to. */
  ownPorts: readonly number[];
  /** Whether this process starts and stops instances; absent: it does. The api only asks and checks. */
  starts?: boolean;
  /** The value of one of the operator's secrets, read now. @throws Error naming it, never its value, where it has none */
  secret(name: string): string;
  /** The UUID of this installation, written into its database once: tells its objects from those of another one beside it. */
  installation?(): Promise<string>;
  /** Named points at which a test may hold or kill the process. */
  pausePoint(name: string): Promise<void>;
}

/**
 * A kind of execution target: how the operator's file describes one, and what runs it. A new kind is a folder of `libs/targets`
 * that exports one of these, its conformance test, and a line in `libs/registry/src/targets.ts`.
 */
export interface TargetKind extends TargetReader {
  /** @throws TargetConfigError for a target that the driver cannot work with; the operator's file is refused then */
  createDriver(config: TargetConfig, host: DriverHost): TargetDriver;
}

/** Nest token of the kinds there are: `@Inject(TARGET_KINDS) kinds: readonly TargetKind[]`. */
export const TARGET_KINDS = Symbol('TargetKinds');
