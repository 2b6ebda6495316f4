import { expect, it } from '@jest/globals';
import { gatewayPath } from './gateway-proxy.js';

it.each([
  '/v1/chat/completions',
  '/v1/models?limit=2',
  '/v1/models/org%2Fname',
  '/v1/models/a..b',
  '/v1/models?a=../b',
])('the proxy passes %s on unchanged', (target) => expect(gatewayPath(target)).toBe(target));

it.each([
  ['', 'not_found'],
  ['/v1', 'not_found'],
  ['/v1/', 'not_found'],
  ['/v2/models', 'not_found'],
  ['//v1/models', 'not_found'],
  ['/v1/../metrics', 'not_found'],
  ['/v1/..', 'not_found'],
  ['/v1/./models', 'not_found'],
  ['/v1/%2e%2e/metrics', 'not_found'],
  ['/v1/.%2E/metrics', 'not_found'],
  ['/v1/a%2f..%2fmetrics', 'not_found'],
  ['/v1/%5c..%5cmetrics', 'not_found'],
  ['/v1/a b', 'not_found'],
  ['/v1/a\r\nx: y', 'not_found'],
  ['/v1/a#b', 'not_found'],
  ['@evil.example/v1/models', 'not_found'],
  ['/v1/%zz', 'path_invalid'],
  ['/v1/%ff', 'path_invalid'],
])('path refused: %s', (target, code) => expect(() => gatewayPath(target)).toThrow(expect.objectContaining({ code })));
