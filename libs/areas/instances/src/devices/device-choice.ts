/** What one instance takes of its host's accelerators. */
export interface DeviceDemand {
  /** At least 1; all of one model, all or none. */
  count: number;
  /** MiB of each that it takes beside others; null = it bears nobody beside it. */
  memoryMb: number | null;
  /** Taken where the host has devices of this name. */
  accelerator?: string;
}

/** A device with all that decides whether it is free. */
export interface DeviceState {
  uuid: string;
  index: number;
  name: string;
  memoryMb: number | null;
  usedMb: number | null;
  foreignMb: number;
  /** Why nothing can be started on it. */
  problem?: string;
  /** MiB of each that holds a part of it; null for one that holds all. */
  claims: (number | null)[];
  /** Instances that are starting on it. */
  starting: number;
}

/** What engines need beside what they are told to take, MiB a device: contexts and kernels of each process. */
export const RESERVE_MB = 512;
/** Less than this is a desktop's or a monitor's, MiB. */
const FOREIGN_BEARABLE_MB = 512;
/** Processes may be hidden from us, as in a container: so much in use on a device that nobody holds is somebody's. */
const HIDDEN_USE_SHARE = 0.1;
const HIDDEN_USE_MB = 1_024;

/** The devices for a demand, by index; undefined where they are not free together. Fractions go where least is left, so that whole ones stay. */
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

/** Those that a demand could ever be given, in order: of the model that it names, where there is one. */
export function suitable(devices: readonly DeviceState[], { accelerator, count }: DeviceDemand): DeviceState[] {
  // A process sees one part of a divided card, never two.
  const ordered = devices
    .filter(({ uuid }) => count === 1 || !uuid.startsWith('MIG-'))
    .sort((one, other) => one.index - other.index || (one.uuid < other.uuid ? -1 : 1));
  const named = accelerator === undefined ? [] : ordered.filter(({ name }) => plain(name).includes(plain(accelerator)));
  return named.length > 0 ? named : ordered;
}

/** Why a device cannot be given now, for people; undefined for one that can. */
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

/** How many of a demand's parts fit at once, whoever starts. */
export function countFitting(devices: readonly DeviceState[], demand: DeviceDemand): number {
  const { memoryMb } = demand;
  return suitable(devices, demand).reduce((sum, device) => {
    if (whyNot(device, demand, Number.POSITIVE_INFINITY) !== undefined) return sum;
    return sum + (memoryMb === null ? 1 : Math.floor(freeMb(device) / memoryMb));
  }, 0);
}

/** MiB that no instance has claimed. */
function freeMb({ memoryMb, foreignMb, claims }: DeviceState): number {
  const claimedMb = claims.reduce<number>((sum, claim) => sum + (claim ?? 0), 0);
  return (memoryMb ?? 0) - RESERVE_MB - foreignMb - claimedMb;
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]+/g, '-');
}
