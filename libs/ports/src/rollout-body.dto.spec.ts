import { expect, it } from '@jest/globals';
import { endpointUrlField, endpointUrls } from '@slipway/contracts';
import { newFindings, readObject } from '@slipway/platform-http';
import { EndpointSpecDto } from './rollout-body.dto.js';

const read = (endpoint: object) => {
  const findings = newFindings();
  const dto = readObject(EndpointSpecDto, endpoint, 'endpoint', findings) as EndpointSpecDto;
  return { dto, faults: [...findings.mistyped, ...findings.broken].map(({ field, code }) => `${field} ${code}`) };
};
const urls = (count: number) => Array.from({ length: count }, (_, port) => `http://h:${port + 1}`);

it.each([
  [{ base_url: 'http://h:1' }, ['http://h:1']],
  [{ base_urls: ['http://h:1', 'http://h:2'] }, ['http://h:1', 'http://h:2']],
  [{ base_url: 'http://h:1', base_urls: ['http://h:2'] }, ['http://h:1', 'http://h:2']],
  [{ base_urls: urls(32) }, urls(32)],
])('an endpoint has one address or several: %j', (endpoint, expected) => {
  const { dto, faults } = read(endpoint);
  expect(faults).toEqual([]);
  expect(endpointUrls(dto)).toEqual(expected);
  expect(dto.health_path).toBe('/health');
});

it.each([
  [{}, 'endpoint.base_url required'],
  [{ base_urls: [] }, 'endpoint.base_urls min_items'],
  [{ base_urls: urls(33) }, 'endpoint.base_urls max_items'],
  [{ base_url: 'http://h:0', base_urls: urls(32) }, 'endpoint.base_urls max_items'],
  // With and without /v1 and a slash it is one server.
  [{ base_urls: ['http://h:1', 'http://h:2', 'http://h:1/v1/'] }, 'endpoint.base_urls unique'],
  [{ base_url: 'http://h:1/', base_urls: ['http://h:1'] }, 'endpoint.base_urls unique'],
  [{ base_urls: ['http://h:1/v1', 'http://h:1/v1beta/openai'], api_path: '/api/v3' }, 'endpoint.base_urls unique'],
  [{ base_url: 'http://h:1', api_path: 'openai' }, 'endpoint.api_path pattern'],
  [{ base_url: 'http://h:1', api_path: '/openai?key=1' }, 'endpoint.api_path pattern'],
])('an endpoint is refused: %#', (endpoint, fault) => {
  expect(read(endpoint).faults).toEqual([fault]);
});

it('each address is named by the field that has it', () => {
  const fields = (endpoint: object) => [0, 1].map((ordinal) => endpointUrlField(endpoint, ordinal));
  expect(fields({ base_url: 'a', base_urls: ['b'] })).toEqual(['endpoint.base_url', 'endpoint.base_urls[0]']);
  expect(fields({ base_urls: ['a', 'b'] })).toEqual(['endpoint.base_urls[0]', 'endpoint.base_urls[1]']);
});
