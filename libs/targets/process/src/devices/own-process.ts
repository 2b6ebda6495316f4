import { readFile } from 'node:fs/promises';
import { INSTANCE_VARIABLE } from '../instances/engine-process.js';

/** Whether a process belongs to an instance of any target of this host: by its environment, or by its cgroup where that is closed to us. */
export async function isOfInstance(pid: number): Promise<boolean> {
  const environment = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '');
  if (environment.split('\0').some((variable) => variable.startsWith(`${INSTANCE_VARIABLE}=`))) return true;
  const group = await readFile(`/proc/${pid}/cgroup`, 'latin1').catch(() => '');
  return group.includes('/slipway-');
}
