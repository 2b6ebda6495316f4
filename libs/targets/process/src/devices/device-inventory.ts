import { readdir, readFile } from 'node:fs/promises';
import type { Device } from '@slipway/contracts';
import { findProgram } from '../host/programs.js';
import { askProgram } from './host-command.js';
import {
  APPS_QUERY,
  GPU_QUERY,
  MAX_DEVICES,
  parseComputeApps,
  parseGpus,
  parseMigDevices,
  type MigDevice,
} from './nvidia-smi.js';
import { parseRocm, ROCM_QUERY } from './rocm-smi.js';
import { INSTANCE_VARIABLE } from '../instances/engine-process.js';

/**
 * The setting of the operator's file. `auto` queries the host. A list is used unchanged, and the used memory stays
 * unknown.
 */
export type DevicesConfig = 'auto' | 'none' | { index: number; memory_mb: number; uuid?: string }[];

export interface Inventory {
  devices: Device[];
  /** Why the list may be wrong or outdated. */
  problem?: string;
}

export interface DeviceInventoryOptions {
  /** Folders in which the programs are searched, like the variable PATH. */
  path: string;
  /** The time limit of all programs of one query together; 14 s by default. */
  limitMs?: number;
  /** `/dev` by default. */
  devFolder?: string;
  /**
   * Whether a process of this host belongs to an instance; by default decided by its environment or its control group.
   */
  isOurs?: (pid: number) => Promise<boolean>;
}

const LIMIT_MS = 14_000;

/** The accelerators of this host. Only one query runs at a time: callers during a query get its answer. */
export class DeviceInventory {
  private looking?: Promise<Inventory>;

  constructor(
    private readonly target: string,
    private readonly options: DeviceInventoryOptions,
  ) {}

  /** Returns the inventory within 15 s; never throws. */
  look(config: DevicesConfig): Promise<Inventory> {
    if (config === 'none') return Promise.resolve({ devices: [] });
    if (config !== 'auto') return Promise.resolve({ devices: config.map((one) => this.declared(one)) });
    this.looking ??= this.ask()
      .catch((error: unknown) => ({ devices: [], problem: `the devices cannot be listed: ${String(error)}` }))
      .finally(() => (this.looking = undefined));
    return this.looking;
  }

  private declared({ index, memory_mb, uuid }: Exclude<DevicesConfig, string>[number]): Device {
    // Two targets that share a host must name the device's UUID, so that both mean the same one.
    const id = uuid ?? `${this.target}/${index}`;
    return { uuid: id, index, name: 'device', memory_mb, used_mb: null, is_usable: true, foreign_mb: 0 };
  }

  private async ask(): Promise<Inventory> {
    const { path, limitMs = LIMIT_MS } = this.options;
    const until = performance.now() + limitMs;
    const nvidia = await findProgram('nvidia-smi', path);
    if (nvidia !== undefined) return this.askNvidia(nvidia, until);
    const rocm = await findProgram('rocm-smi', path);
    if (rocm !== undefined) {
      const { output, problem } = await this.run(rocm, ROCM_QUERY, until);
      return inventory(parseRocm(output), problem);
    }
    return this.present();
  }

  private async askNvidia(program: string, until: number): Promise<Inventory> {
    const { output, problem } = await this.run(program, GPU_QUERY, until);
    const gpus = parseGpus(output);
    // Without cards there is nothing more to query, and a program that has just failed would fail again.
    if (gpus.length === 0) return inventory([], problem ?? unreadable(output));
    const listed = await this.run(program, ['-L'], until);
    const apps = await this.run(program, APPS_QUERY, until);
    const foreign = await this.foreign(apps.output);
    const parts = parseMigDevices(listed.output);
    const devices = gpus
      .map((gpu) => ({ ...gpu, foreign_mb: foreign.get(gpu.uuid) ?? 0 }))
      .flatMap((gpu) => divided(gpu, parts));
    return inventory(devices.slice(0, MAX_DEVICES), problem ?? listed.problem ?? apps.problem);
  }

  /** Returns MiB by card held by processes that no instance started. */
  private async foreign(output: string): Promise<Map<string, number>> {
    const { isOurs = isOfInstance } = this.options;
    const used = new Map<string, number>();
    for (const { gpu, pid, used_mb } of parseComputeApps(output)) {
      if (used_mb === null || (await isOurs(pid))) continue;
      used.set(gpu, (used.get(gpu) ?? 0) + used_mb);
    }
    return used;
  }

  /** Without a program to query, lists the devices that the kernel shows; their size is unknown. */
  private async present(): Promise<Inventory> {
    const { devFolder = '/dev' } = this.options;
    const names = await readdir(devFolder).catch((): string[] => []);
    const indices = names.flatMap((name) => /^nvidia(\d{1,3})$/.exec(name)?.[1] ?? []).map(Number);
    const devices = indices
      .sort((one, other) => one - other)
      .slice(0, MAX_DEVICES)
      .map((index) => ({
        uuid: `${this.target}/nvidia${index}`,
        index,
        name: 'NVIDIA device',
        memory_mb: null,
        used_mb: null,
        is_usable: true,
        foreign_mb: 0,
      }));
    if (devices.length > 0) return { devices, problem: 'nvidia-smi is not on the PATH: memory and usage are unknown' };
    if (names.includes('kfd'))
      return { devices: [], problem: 'the host has AMD devices, but rocm-smi is not on the PATH' };
    return { devices: [] };
  }

  private run(program: string, args: readonly string[], until: number) {
    const limitMs = Math.max(100, Math.round(until - performance.now()));
    return askProgram(program, args, { path: this.options.path, limitMs });
  }
}

/** Replaces a divided card by its parts. Each process sees one part, and only by its UUID. */
function divided(gpu: Device, parts: readonly MigDevice[]): Device[] {
  const own = parts.filter(({ parent }) => parent === gpu.uuid);
  if (own.length === 0) return [gpu];
  return own.map(({ uuid, profile, memory_mb }) => ({
    ...gpu,
    uuid,
    name: `${gpu.name} MIG ${profile}`,
    memory_mb,
    used_mb: null,
  }));
}

function unreadable(output: string): string | undefined {
  return output.trim() === '' || /no devices/i.test(output) ? undefined : 'nvidia-smi listed no readable device';
}

function inventory(devices: Device[], problem: string | undefined): Inventory {
  return problem === undefined ? { devices } : { devices, problem };
}

/**
 * Whether a process belongs to an instance of any target of this host: by its environment or, if that cannot be read,
 * by its cgroup.
 */
async function isOfInstance(pid: number): Promise<boolean> {
  const environment = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '');
  if (environment.split('\0').some((variable) => variable.startsWith(`${INSTANCE_VARIABLE}=`))) return true;
  const group = await readFile(`/proc/${pid}/cgroup`, 'latin1').catch(() => '');
  return group.includes('/slipway-');
}
