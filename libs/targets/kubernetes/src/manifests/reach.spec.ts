import { expect, it } from '@jest/globals';
import { baseUrlOf } from './reach.js';

const location = { unit: 'slw-a-0-6789abcd-g1', namespace: 'models', port: 8_000 };

it.each([
  ['10.1.2.3', 'http://10.1.2.3:8000'],
  ['fd00::7', 'http://[fd00::7]:8000'],
  ['', undefined],
  [undefined, undefined],
])('reaches a pod at %s', (podIp, url) => {
  expect(baseUrlOf({ reach: 'pod' }, { ...location, ...(podIp !== undefined && { podIp }) })).toBe(url);
});

it('reaches a Service and a URL without the address of a pod', () => {
  expect(baseUrlOf({ reach: 'service' }, location)).toBe('http://slw-a-0-6789abcd-g1.models.svc:8000');
  const reach = { url: 'https://{unit}.{namespace}.example/' };
  expect(baseUrlOf({ reach }, location)).toBe('https://slw-a-0-6789abcd-g1.models.example');
});
