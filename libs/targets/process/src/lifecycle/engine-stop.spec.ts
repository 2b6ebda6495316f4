import { expect, it } from '@jest/globals';
import { EngineProcesses } from '../instances/engine-process.js';
import { EngineStopper } from './engine-stop.js';
import { InstanceFolder, type Generation } from '../instances/instance-folder.js';

/** A folder that records the order of its calls; no process has claimed a generation in it. */
class ToldFolder extends InstanceFolder {
  readonly calls: string[] = [];

  override async mark(generation: number, mark: string): Promise<void> {
    await new Promise((done) => setImmediate(done));
    this.calls.push(`mark ${generation} ${mark}`);
  }

  override async generations(): Promise<Generation[]> {
    this.calls.push('look');
    return [];
  }
}

it('marks every generation before it checks for claims, so that a later claimant sees the mark', async () => {
  const folder = new ToldFolder('/nowhere');
  const stopper = new EngineStopper(new EngineProcesses(), 30, () => folder);
  expect(await stopper.stop('inst_1', [{ generation: 1 }, { generation: 2 }])).toBe(false);
  expect(folder.calls).toEqual(['mark 1 stop', 'mark 2 stop', 'look']);
  stopper.close();
});
