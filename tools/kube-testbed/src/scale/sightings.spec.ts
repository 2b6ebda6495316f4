import { beforeEach, expect, it } from '@jest/globals';
import type { Pod } from '../objects.js';
import { Sightings } from './sightings.js';

let now: number;
let seen: Sightings;
beforeEach(() => {
  now = 0;
  seen = new Sightings(() => now);
});

const pod = (name: string, instance: string, address: string | undefined, isReady = true) =>
  ({
    metadata: { name, labels: { 'slipway.dev/instance': instance } },
    status: { podIP: address, conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }] },
  }) as unknown as Pod;
const tell = (...instances: [id: string, address: string][]) =>
  seen.told(
    'rev_1',
    instances.map(([id, address]) => ({ id, address })),
  );

it('measures from a ready pod until gateways have its address', () => {
  seen.seen(pod('one', 'ins_1', undefined, false));
  seen.seen(pod('one', 'ins_1', '10.0.0.1'));
  now = 40;
  // A repeated event is not a change.
  seen.seen(pod('one', 'ins_1', '10.0.0.1'));
  expect([seen.pods.size, seen.published]).toEqual([1, 0]);
  now = 70;
  tell(['ins_1', '10.0.0.1']);
  expect([seen.published, seen.takeWaits(), seen.takeWaits()]).toEqual([1, [70], []]);
});

it('follows a pod to a second address, and waits until gateways have that address', () => {
  seen.seen(pod('one', 'ins_1', '10.0.0.1'));
  now = 10;
  seen.seen(pod('one', 'ins_1', '10.0.0.2'));
  tell(['ins_1', '10.0.0.1']);
  expect([seen.published, seen.waited]).toEqual([0, []]);
  now = 15;
  tell(['ins_1', '10.0.0.2']);
  expect([seen.published, seen.waited, seen.readdressed]).toEqual([1, [5], 1]);
  expect(seen.isSame(new Map([['ins_1', '10.0.0.2']]))).toBe(true);
  expect(seen.isSame(new Map([['ins_1', '10.0.0.1']]))).toBe(false);
});

it('treats a replacement pod as a new one, even at the same address', () => {
  seen.seen(pod('one', 'ins_1', '10.0.0.1'));
  tell(['ins_1', '10.0.0.1'], ['ins_2', '10.0.0.9']);
  seen.seen(pod('one', 'ins_1', '10.0.0.1'), true);
  tell(['ins_2', '10.0.0.9']);
  seen.takeWaits();
  now = 100;
  seen.seen(pod('two', 'ins_1', '10.0.0.1'));
  expect(seen.published).toBe(0);
  now = 130;
  tell(['ins_1', '10.0.0.1']);
  expect([seen.published, seen.waited]).toEqual([1, [30]]);
  // The end of a replaced pod does not affect its replacement.
  seen.seen(pod('one', 'ins_1', '10.0.0.1'), true);
  expect(seen.published).toBe(1);
});

it('forgets pods that a new list does not contain', () => {
  seen.listed([pod('one', 'ins_1', '10.0.0.1'), pod('two', 'ins_2', '10.0.0.2')]);
  seen.listed([pod('two', 'ins_2', '10.0.0.2')]);
  expect([...seen.pods.keys()]).toEqual(['ins_2']);
  tell(['ins_1', '10.0.0.1']);
  expect(seen.waited).toEqual([]);
});
