/** The accelerators that one instance needs. */
export interface DeviceDemand {
  /** At least 1. All are of one model; either all are given or none. */
  count: number;
  /** MiB that it uses of each shared device; null if it shares no device. */
  memoryMb: number | null;
  /** Preferred if the host has devices of this name. */
  accelerator?: string;
}

/** A device, with everything that determines whether it is free. */
export interface DeviceState {
  uuid: string;
  index: number;
  name: string;
  memoryMb: number | null;
  usedMb: number | null;
  foreignMb: number;
  /** Why no instance can start on it. */
  problem?: string;
  /** MiB of each claim on a part of it; null for a claim on the entire device. */
  claims: (number | null)[];
  /** Number of instances that are starting on it. */
  starting: number;
}

/**
 * MiB for each device that engines need in addition to their configured memory: contexts and kernels of each process.
 */
export const RESERVE_MB = 512;
/** MiB. Less than this belongs to a desktop or a monitor. */
const FOREIGN_BEARABLE_MB = 512;
/**
 * Processes may be hidden, as in a container. If more than this is in use on an unclaimed device, an unknown program
 * uses it.
 */
const HIDDEN_USE_SHARE = 0.1;
const HIDDEN_USE_MB = 1_024;

/**
 * Chooses the devices for a demand, by index; undefined if they are not free together. Parts are taken where the least
 * is left, so that entire devices stay free.
 */
export function chooseDevices(
  devices: readonly DeviceState[],
  demand: DeviceDemand,
  startsAtOnce: number,
): DeviceState[] | undefined {
  const fitting = suitable(devices, demand).filter((device) => whyNot(device, demand, startsAtOnce) === undefined);
  for (const name of new Set(fitting.map((device) => device.name))) {
    const alike = fitting.filter((device) => device.name === name);
    if (alike.length < demand.count) continue;
    const ordered = demand.memoryMb === null ? alike : [...alike].sort((one, other) => freeMb(one) - freeMb(other));
    return ordered.slice(0, demand.count).sort((one, other) => one.index - other.index);
  }
  return undefined;
}

/**
 * Returns the devices that can suit a demand, in order: those with the named accelerator, if the host has any, else
 * all.
 */
export function suitable(devices: readonly DeviceState[], { accelerator, count }: DeviceDemand): DeviceState[] {
  // A process sees one part of a divided card, never two.
  const ordered = devices
    .filter(({ uuid }) => count === 1 || !uuid.startsWith('MIG-'))
    .sort((one, other) => one.index - other.index || (one.uuid < other.uuid ? -1 : 1));
  const named = accelerator === undefined ? [] : ordered.filter(({ name }) => plain(name).includes(plain(accelerator)));
  return named.length > 0 ? named : ordered;
}

/** Returns a readable reason why a device cannot be given now; undefined if it can. */
export function whyNot(device: DeviceState, { memoryMb }: DeviceDemand, startsAtOnce: number): string | undefined {
  const { problem, claims, foreignMb } = device;
  if (problem !== undefined) return problem;
  if (memoryMb !== null) {
    if (claims.includes(null)) return 'is in use';
    if (device.memoryMb === null) return 'has an unknown amount of memory';
    if (freeMb(device) < memoryMb) return `has ${Math.max(0, freeMb(device))} MiB left`;
    return device.starting < startsAtOnce ? undefined : 'has another instance starting on it';
  }
  if (claims.length > 0) return 'is in use';
  if (foreignMb >= FOREIGN_BEARABLE_MB) return `has ${foreignMb} MiB in use by programs that Slipway did not start`;
  const bearable = Math.max(HIDDEN_USE_MB, (device.memoryMb ?? 0) * HIDDEN_USE_SHARE);
  if ((device.usedMb ?? 0) > bearable) return `has ${device.usedMb} MiB in use by unknown programs`;
  return undefined;
}

/** Counts how many parts of a demand fit at the same time, without regard to concurrent starts. */
export function countFitting(devices: readonly DeviceState[], demand: DeviceDemand): number {
  const { memoryMb } = demand;
  return suitable(devices, demand).reduce((sum, device) => {
    if (whyNot(device, demand, Number.POSITIVE_INFINITY) !== undefined) return sum;
    return sum + (memoryMb === null ? 1 : Math.floor(freeMb(device) / memoryMb));
  }, 0);
}

/** Returns the MiB that no instance has claimed. */
function freeMb({ memoryMb, foreignMb, claims }: DeviceState): number {
  const claimedMb = claims.reduce<number>((sum, claim) => sum + (claim ?? 0), 0);
  return (memoryMb ?? 0) - RESERVE_MB - foreignMb - claimedMb;
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]+/g, '-');
}
