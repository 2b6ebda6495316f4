import { expect, it } from '@jest/globals';
import { chooseDevices, countFitting, RESERVE_MB, type DeviceDemand, type DeviceState } from './device-choice.js';

const device = (index: number, change: Partial<DeviceState> = {}): DeviceState => ({
  uuid: `GPU-${index}`,
  index,
  name: 'NVIDIA L4',
  memoryMb: 20_000,
  usedMb: 10,
  foreignMb: 0,
  claims: [],
  starting: 0,
  ...change,
});

const whole = (count = 1, change: Partial<DeviceDemand> = {}): DeviceDemand => ({ count, memoryMb: null, ...change });
const part = (memoryMb: number, count = 1): DeviceDemand => ({ count, memoryMb });
const chosen = (devices: DeviceState[], demand: DeviceDemand) =>
  chooseDevices(devices, demand, 1)?.map(({ index }) => index);

it('entire devices are chosen by index, all of one model or none', () => {
  const mixed = [device(3), device(0, { name: 'NVIDIA A100' }), device(1), device(2)];
  expect(chosen(mixed, whole())).toEqual([0]);
  expect(chosen(mixed, whole(2))).toEqual([1, 2]);
  expect(chosen(mixed, whole(4))).toBeUndefined();
});

it.each<[string, Partial<DeviceState>]>([
  ['is claimed', { claims: [null] }],
  ['is claimed in part', { claims: [100] }],
  ['has other programs on it', { foreignMb: 600 }],
  ['has memory in use by an unknown program', { usedMb: 5_000 }],
  ['has a problem', { problem: 'is faulty' }],
])('no entire device is chosen that %s', (_what, change) => {
  expect(chosen([device(0, change), device(1)], whole())).toEqual([1]);
});

it('an entire device may have a small amount of memory in use, as by a desktop', () => {
  expect(chosen([device(0, { foreignMb: 300, usedMb: 900 })], whole())).toEqual([0]);
});

it('parts are chosen until only the reserve is left, on the device with the least free memory first', () => {
  const fits = 20_000 - RESERVE_MB - 8_000 - 1_000;
  const shared = device(1, { claims: [8_000], foreignMb: 1_000, usedMb: 9_000 });
  expect(chosen([device(0), shared], part(fits))).toEqual([1]);
  expect(chosen([device(0), shared], part(fits + 1))).toEqual([0]);
  expect(chosen([shared], part(fits + 1))).toBeUndefined();
  expect(chosen([device(0, { claims: [null] })], part(1))).toBeUndefined();
  expect(chosen([device(0, { memoryMb: null })], part(1))).toBeUndefined();
  expect(countFitting([device(0), shared], part(5_000))).toBe(3 + 2);
});

it('a device has as many concurrent starts as the target allows', () => {
  const busy = device(0, { claims: [1_000], starting: 1 });
  expect(chosen([busy], part(1_000))).toBeUndefined();
  expect(chooseDevices([busy], part(1_000), 2)).toHaveLength(1);
});

it('the accelerator that a spec names is chosen if the host has it', () => {
  const host = [device(0), device(1, { name: 'NVIDIA A100-SXM4-80GB' })];
  expect(chosen(host, whole(1, { accelerator: 'nvidia-a100' }))).toEqual([1]);
  expect(chosen(host, whole(1, { accelerator: 'gpu' }))).toEqual([0]);
});

it('an engine never gets two parts of divided cards, because it would see only the first', () => {
  const slots = [device(0, { uuid: 'MIG-1' }), device(0, { uuid: 'MIG-2' })];
  expect(chosen(slots, whole())).toEqual([0]);
  expect(chosen(slots, whole(2))).toBeUndefined();
});
