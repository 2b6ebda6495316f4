import { expect, it } from '@jest/globals';
import { sinceOf } from './instance-logs.service.js';

it('the oldest requested output is as old as the query says, and the later of two times counts', () => {
  const now = Date.parse('2030-01-01T12:00:00Z');
  expect(sinceOf({}, now)).toBeUndefined();
  expect(sinceOf({ since: '2030-01-01T11:00:00Z' }, now)).toBe('2030-01-01T11:00:00Z');
  expect(sinceOf({ since_seconds: 600 }, now)).toBe('2030-01-01T11:50:00.000Z');
  expect(sinceOf({ since: '2030-01-01T11:00:00Z', since_seconds: 600 }, now)).toBe('2030-01-01T11:50:00.000Z');
  expect(sinceOf({ since: '2030-01-01T11:55:00Z', since_seconds: 600 }, now)).toBe('2030-01-01T11:55:00Z');
});
