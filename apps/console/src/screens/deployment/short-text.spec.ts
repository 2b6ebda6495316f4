import { expect, it } from '@jest/globals';
import { oneLine } from '../../ui/text/one-line.js';
import { actorText, flatText, shortDigest } from './short-text.js';

it('cuts every long text', () => {
  expect(oneLine({ a: 'x'.repeat(1_000) })).toHaveLength(121);
  expect(oneLine(undefined)).toBe('');
});

it('formats an object without brackets', () =>
  expect(flatText({ profile: 'chat', input_tokens: { p50: 200, p95: 900 }, freeze_windows: [], x: null })).toBe(
    'profile chat, input_tokens p50 200, p95 900',
  ));

it('shortens digests and actors', () => {
  expect(shortDigest('sha256:0123456789abcdef')).toBe('0123456789ab');
  expect(actorText('token:tok_1')).toBe('tok_1');
  expect(actorText('nobody')).toBe('nobody');
});
