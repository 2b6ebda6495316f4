import type { Device } from '@slipway/contracts';

/** The most devices that are read from one output; a host has at most 16, and slices of them. */
export const MAX_DEVICES = 128;

const UUID = /^[A-Za-z0-9][A-Za-z0-9/_.-]{0,99}$/;
/** Everything but printable ASCII is removed: people see the text, and the program is not ours. */
const UNSHOWABLE = /[^\x20-\x7e]/g;
const MAX_NAME = 100;

export const GPU_QUERY = [
  '--query-gpu=index,uuid,name,memory.total,memory.used',
  '--format=csv,noheader,nounits',
] as const;
export const APPS_QUERY = ['--query-compute-apps=gpu_uuid,pid,used_memory', '--format=csv,noheader,nounits'] as const;

/**
 * Parses the output of `GPU_QUERY` and skips lines of another form. A value that the driver does not report is null,
 * and a card that it lost is not usable.
 */
export function parseGpus(output: string): Device[] {
  return lines(output).flatMap((line): Device[] => {
    const fields = line.split(',').map((field) => field.trim());
    // A name may contain commas.
    const [index = '', uuid = ''] = fields;
    const [total = '', used = ''] = fields.slice(-2);
    if (fields.length < 5 || !/^\d{1,4}$/.test(index) || !UUID.test(uuid)) return [];
    const isLost = [total, used].some((field) => /lost|error|fault/i.test(field));
    return [
      {
        uuid,
        index: Number(index),
        name: shown(fields.slice(2, -2).join(', ')),
        memory_mb: wholeOrNull(total),
        used_mb: wholeOrNull(used),
        is_usable: !isLost,
        ...(isLost ? { problem: `its driver reports: ${shown(total === '' ? used : total)}` } : {}),
        foreign_mb: 0,
      },
    ];
  });
}

export interface MigDevice {
  /** The card that contains this part. */
  parent: string;
  uuid: string;
  profile: string;
  /** MiB, by its profile; null if the profile does not say. */
  memory_mb: number | null;
}

/** Parses the output of `nvidia-smi -L`: the parts of each divided card. */
export function parseMigDevices(output: string): MigDevice[] {
  let parent: string | undefined;
  return lines(output).flatMap((line): MigDevice[] => {
    const card = /^GPU \d+: .*\(UUID: (GPU-[A-Za-z0-9-]{1,90})\)/.exec(line);
    if (card) parent = card[1];
    const part = /^\s+MIG (\S{1,40})\s+Device\s+\d+: \(UUID: (MIG-[A-Za-z0-9/-]{1,90})\)/.exec(line);
    if (!part || parent === undefined) return [];
    const [, profile = '', uuid = ''] = part;
    const gigabytes = /(\d{1,4})gb/.exec(profile)?.[1];
    return [{ parent, uuid, profile: shown(profile), memory_mb: gigabytes ? toMiB(Number(gigabytes)) : null }];
  });
}

export interface ComputeApp {
  gpu: string;
  pid: number;
  /** Null if the driver does not report it, as in most containers. */
  used_mb: number | null;
}

/** Parses the output of `APPS_QUERY`. */
export function parseComputeApps(output: string): ComputeApp[] {
  return lines(output, 4_096).flatMap((line): ComputeApp[] => {
    const [gpu = '', pid = '', used = '', ...more] = line.split(',').map((field) => field.trim());
    if (more.length > 0 || !UUID.test(gpu) || !/^\d{1,10}$/.test(pid)) return [];
    return [{ gpu, pid: Number(pid), used_mb: wholeOrNull(used) }];
  });
}

function lines(output: string, most = MAX_DEVICES): string[] {
  return output.split('\n').slice(0, most);
}

/** Null for `[N/A]`, `[Not Supported]` and everything else that is not a number. */
function wholeOrNull(field: string): number | null {
  return /^\d{1,9}$/.test(field) ? Number(field) : null;
}

function toMiB(gigabytes: number): number {
  return Math.floor((gigabytes * 1e9) / 2 ** 20);
}

export function shown(text: string): string {
  return text.slice(0, MAX_NAME).replace(UNSHOWABLE, '?').trim();
}
