import { Logger } from '@nestjs/common';
import { afterEach, expect, it, jest } from '@jest/globals';
import { OperatorSettings, type PausePoints, type TargetConfig } from '@slipway/platform-config';
import type { DriverHost, TargetDriver, TargetKind } from '@slipway/target-driver';
import type { Installation } from './installation.js';
import { TargetCatalog } from './target-catalog.js';

afterEach(() => void jest.restoreAllMocks());

/** The last host that a driver got. */
let host: DriverHost;

/** Targets whose drivers return the warnings in their configuration. */
const KIND = {
  kind: 'anxious',
  createDriver(first: TargetConfig & { says?: string[] }, given: DriverHost) {
    let config = first;
    host = given;
    const driver = {
      reconfigure: (next: typeof first) => () => void (config = next),
      warnings: () => config.says ?? [],
    };
    return driver as unknown as TargetDriver;
  },
} as unknown as TargetKind;

function catalogOf(settings: OperatorSettings, id = async () => ''): TargetCatalog {
  const pausePoints = { reach: async () => undefined } as unknown as PausePoints;
  const installation = { id } as unknown as Installation;
  return new TargetCatalog({ home: '/', ownPorts: [] }, settings, [KIND], pausePoints, installation);
}

it('drivers get the installation id when they request it, and nothing reads it before', async () => {
  const id = jest.fn(async () => 'a-uuid');
  catalogOf(OperatorSettings.fixed({ targets: [{ name: 'gpu', kind: 'anxious' }], secrets: {} }), id);
  expect(id).not.toHaveBeenCalled();
  expect(await host.installation?.()).toBe('a-uuid');
});

it('the log has the warnings of a target once they apply, and not again after a change elsewhere', () => {
  const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
  const parse = (text = '{}') => ({
    targets: [{ name: 'gpu', kind: 'anxious', says: (JSON.parse(text) as { says?: string[] }).says }],
    secrets: {},
  });
  const settings = OperatorSettings.of(parse, '{"says":["this","that"]}');
  catalogOf(settings);
  settings.offer('{"says":["this","that"],"other":1}');
  settings.offer('{"says":["other"]}');
  settings.offer('{}');
  expect(warn.mock.calls.map(([text]) => text)).toEqual(['target "gpu": this; that', 'target "gpu": other']);
});
