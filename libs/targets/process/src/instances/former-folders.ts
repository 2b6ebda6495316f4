import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { SAFE_NAME, type UnitLocation, type UnknownUnits } from '@slipway/target-driver';
import { FOLDER_VARIABLE, type EngineProcesses } from './engine-process.js';
import { InstanceFolder, missingAs } from './instance-folder.js';

const MOST_TARGETS = 20;
const MOST_NAMES = 5;

/**
 * Instances of which the folder is in an earlier home. An instance stays in the folder in which it was made, so that
 * two generations never run in two folders. If the home was moved with its folders, they are found in the new one.
 */
export class FormerFolders {
  /** The folders in earlier homes, by instance. */
  private readonly paths = new Map<string, string>();

  constructor(
    private readonly target: string,
    private readonly home: string,
    private readonly processes: Pick<EngineProcesses, 'bootId'>,
  ) {}

  /** The folder of the instance, if it is in an earlier home. */
  pathOf(instanceId: string): string | undefined {
    return this.paths.get(instanceId);
  }

  /** Finds the folder of the instance. A caller that knows no locations changes nothing. */
  note(instanceId: string, madeAt: readonly UnitLocation[] = []): void {
    if (madeAt.length === 0) return;
    const found = existsSync(this.folderIn(this.home, instanceId))
      ? undefined
      : this.foldersOf(instanceId, madeAt).find((folder) => existsSync(folder));
    if (found === undefined) this.paths.delete(instanceId);
    else this.paths.set(instanceId, found);
  }

  /** The folders of this target in earlier homes. */
  roots(madeAt: readonly UnitLocation[]): string[] {
    return this.homesOf(madeAt).map((home) => join(home, 'instances', this.target));
  }

  /** Why the instance cannot be stopped: it runs, but its folder is gone. Undefined if it can, or if it does not run. */
  unreachable(instanceId: string, madeAt: readonly UnitLocation[]): string | undefined {
    const folders = [this.folderIn(this.home, instanceId), ...this.foldersOf(instanceId, madeAt)];
    if (this.processes.bootId === '' || folders.some((folder) => existsSync(folder))) return undefined;
    const pids = processesOf(folders);
    if (pids.length === 0) return undefined;
    return `process ${pids.join(', ')} of this host belongs to it, but its folder ${folders.at(-1)} is gone: put the folder back, or end it with kill ${pids.join(' ')}`;
  }

  /** @throws Error if the instance runs without its folder; it is neither absent nor gone then */
  assertVisible(instanceId: string, madeAt: readonly UnitLocation[] | undefined): void {
    // Nothing was made before its location was stored.
    const problem = madeAt?.length ? this.unreachable(instanceId, madeAt) : undefined;
    if (problem !== undefined) throw new Error(problem);
  }

  private foldersOf(instanceId: string, madeAt: readonly UnitLocation[]): string[] {
    return this.homesOf(madeAt).map((home) => this.folderIn(home, instanceId));
  }

  private homesOf(madeAt: readonly UnitLocation[]): string[] {
    return [...new Set(madeAt.flatMap(({ home }) => home ?? []))].filter((home) => home !== this.home);
  }

  private folderIn(home: string, instanceId: string): string {
    return join(home, 'instances', this.target, instanceId);
  }
}

/** Processes of this host that an engine of these folders started, with their variable. */
function processesOf(folders: readonly string[]): number[] {
  const wanted = new Set(folders.map((folder) => `${FOLDER_VARIABLE}=${folder}`));
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => environmentOf(pid).some((variable) => wanted.has(variable)))
    .map(Number);
}

/** Empty for a process of another user, and for one that has ended. */
function environmentOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
  } catch {
    return [];
  }
}

/** Engines in the home that run for targets which the operator's file does not name. */
export async function unknownFolders(
  home: string,
  targets: ReadonlySet<string>,
  processes: Pick<EngineProcesses, 'isAlive'>,
): Promise<UnknownUnits[]> {
  const instances = join(home, 'instances');
  const names = (await readdir(instances).catch(missingAs<string[]>([])))
    .filter((name) => !name.startsWith('.') && !targets.has(name))
    .sort();
  const found = await Promise.all(names.slice(0, MOST_TARGETS).map((target) => running(instances, target, processes)));
  return found.filter((one) => one !== undefined);
}

async function running(
  instances: string,
  target: string,
  processes: Pick<EngineProcesses, 'isAlive'>,
): Promise<UnknownUnits | undefined> {
  const folder = join(instances, target);
  const ids = (await readdir(folder).catch(() => [])).filter((name) => SAFE_NAME.test(name));
  const alive: { id: string; pid: number }[] = [];
  for (const id of ids)
    for (const { record } of await new InstanceFolder(join(folder, id)).generations())
      if (record && (await processes.isAlive(record))) alive.push({ id, pid: record.pid });
  if (alive.length === 0) return undefined;
  const first = alive.slice(0, MOST_NAMES);
  return {
    target,
    location: `folder ${folder}`,
    count: alive.length,
    running: alive.length,
    names: first.map(({ id }) => id),
    command: `kill ${first.map(({ pid }) => pid).join(' ')}`,
  };
}
