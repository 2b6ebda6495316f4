import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { OperatorConfigError, OperatorSettings, parseOperatorConfig, RETENTION, retentionOf } from './index.js';

const of = (text: string) => retentionOf(parseOperatorConfig(text));
const problemsOf = (text: string): string[] => {
  try {
    parseOperatorConfig(text);
    return [];
  } catch (error) {
    if (error instanceof OperatorConfigError) return error.problems;
    throw error;
  }
};

describe('retention', () => {
  it('is that of the table for each key that the file does not contain', () => {
    const defaults = Object.fromEntries(Object.entries(RETENTION).map(([name, spec]) => [name, spec.default]));
    expect(of('targets: []')).toEqual(defaults);
    expect(of('retention:')).toEqual(defaults);
    expect(of('retention: {events_days: 7}')).toEqual({ ...defaults, events_days: 7 });
  });

  it('follows the file while the process runs', () => {
    const settings = OperatorSettings.of((text) => parseOperatorConfig(text ?? ''), 'retention: {events_days: 7}');
    expect(retentionOf(settings).events_days).toBe(7);
    expect(settings.offer('retention: {events_days: 8}')).toEqual([]);
    expect(retentionOf(settings).events_days).toBe(8);
    expect(settings.offer('retention: {events_days: 0}')).toHaveLength(1);
    expect(retentionOf(settings).events_days).toBe(8);
  });

  it.each([
    ['retention: 7', /^retention must be a mapping$/],
    ['retention: {event_days: 7}', /^retention\.event_days is not a known key; did you mean events_days\?/],
    ['retention: {audit_days: 7}', /^retention\.audit_days is not a known key/],
    ['retention: {events_days: 0}', /^retention\.events_days must be a whole number from 1 to 3650$/],
    ['retention: {events_days: 3651}', /^retention\.events_days must be a whole number from 1 to 3650$/],
    ['retention: {operations_days: 0.5}', /^retention\.operations_days must be a whole number from 1 to 3650$/],
    ['retention: {statistics_days: 2}', /^retention\.statistics_days must be a whole number from 3 to 3650$/],
    ['retention: {usage_days: "35"}', /^retention\.usage_days must be a whole number from 1 to 3650$/],
    ['retention: {usage_days: null}', /^retention\.usage_days must be a whole number from 1 to 3650$/],
  ])('is refused by key path: %s', (text, expected) => {
    expect(problemsOf(text)).toEqual([expect.stringMatching(expected)]);
  });

  it('is listed with its defaults in docker/slipway.config.yaml', () => {
    const file = readFileSync(new URL('../../../../docker/slipway.config.yaml', import.meta.url), 'utf8');
    const [, shown] = /^# (retention: .*)$/m.exec(file)!;
    expect(parseOperatorConfig(shown!).retention).toEqual(of('targets: []'));
  });
});
