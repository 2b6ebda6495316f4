import { Logger } from '@nestjs/common';
import { afterEach, expect, it, jest } from '@jest/globals';
import { OperatorSettings, type PausePoints, type TargetConfig } from '@slipway/platform-config';
import type { TargetDriver, TargetKind } from '@slipway/target-driver';
import { TargetCatalog } from './target-catalog.js';

afterEach(() => void jest.restoreAllMocks());

/** Targets whose drivers have the warnings that stand in their configuration. */
const KIND = {
  kind: 'anxious',
  createDriver(first: TargetConfig & { says?: string[] }) {
    let config = first;
    const driver = {
      reconfigure: (next: typeof first) => () => void (config = next),
      warnings: () => config.says ?? [],
    };
    return driver as unknown as TargetDriver;
  },
} as unknown as TargetKind;

it('says what the operator should know of a target when it begins to hold, and not again for a change elsewhere', () => {
  const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
  const parse = (text = '{}') => ({
    targets: [{ name: 'gpu', kind: 'anxious', says: (JSON.parse(text) as { says?: string[] }).says }],
    secrets: {},
  });
  const settings = OperatorSettings.of(parse, '{"says":["this","that"]}');
  new TargetCatalog({ home: '/', ownPorts: [] }, settings, [KIND], {
    reach: async () => undefined,
  } as unknown as PausePoints);
  settings.offer('{"says":["this","that"],"other":1}');
  settings.offer('{"says":["other"]}');
  settings.offer('{}');
  expect(warn.mock.calls.map(([text]) => text)).toEqual(['target "gpu": this; that', 'target "gpu": other']);
});
