import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { operationFailures, StepFailed } from '@slipway/platform-durable/operations';
import {
  everyCrashResumes,
  everyStepIsRepeatable,
  everyStepMayFail,
  type OperationCase,
} from '@slipway/platform-durable/operations/testing';
import { Administration, CHECKS, SupplierServer } from './administration.js';

let area: Administration;
let simulator: SupplierServer;

beforeAll(async () => {
  simulator = await SupplierServer.start();
  area = await Administration.start();
});
afterAll(async () => {
  await area?.stop();
  await simulator?.stop();
});

const stateOf = (id: string): Promise<any> => area.bindings.get('ten_1', id);

const properties: OperationCase = {
  get harness() {
    return area.harness;
  },
  tenantId: 'ten_1',
  kind: 'qualify_target_binding',
  begin: async () => {
    const { id } = await area.product();
    return area.begin((await area.supplierBinding(id, simulator.url)).id);
  },
  assertSucceeded: async (record) => {
    const { state, qualification } = await stateOf(record['resource_name']);
    expect([state, qualification.checks.map((check: any) => check.name)]).toEqual(['qualified', CHECKS]);
  },
  assertUnwound: async (record) => {
    expect((await stateOf(record['resource_name'])).state).toBe('unqualified');
    await area.begin(record['resource_name']);
  },
};

it('a qualification has only repeatable steps', () => everyStepIsRepeatable(properties), 120_000);
it(
  'a qualification unwinds clean after the failure of any step',
  () => everyStepMayFail(properties, () => new StepFailed(operationFailures.internal, 'made to fail')),
  120_000,
);
it('a qualification continues after a crash at any commit', () => everyCrashResumes(properties), 120_000);
