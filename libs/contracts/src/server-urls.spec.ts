import { expect, it } from '@jest/globals';
import { serverUrls } from './server-urls.js';

it.each([
  ['http://h', 'http://h', 'http://h/v1'],
  ['http://h/v1', 'http://h', 'http://h/v1'],
  ['http://h:8080/llm', 'http://h:8080/llm', 'http://h:8080/llm/v1'],
  ['http://h/llm/v1', 'http://h/llm', 'http://h/llm/v1'],
  ['https://h/openai/v1', 'https://h/openai', 'https://h/openai/v1'],
  ['https://h/v1beta/openai', 'https://h', 'https://h/v1beta/openai'],
  ['https://h/v1/openai', 'https://h', 'https://h/v1/openai'],
  ['https://h/api/v3', 'https://h/api', 'https://h/api/v3'],
  ['http://h/openai', 'http://h/openai', 'http://h/openai/v1'],
  ['http://h/v1/tenant', 'http://h/v1/tenant', 'http://h/v1/tenant/v1'],
  ['http://[::1]:11434', 'http://[::1]:11434', 'http://[::1]:11434/v1'],
  ['http://v1', 'http://v1', 'http://v1/v1'],
  ['HTTP://h//v1', 'HTTP://h', 'HTTP://h//v1'],
])('finds the same root and API for %s with and without slashes at the end', (baseUrl, root, api) => {
  for (const slashes of ['', '/', '//']) expect(serverUrls(`${baseUrl}${slashes}`)).toEqual({ root, api });
});

it.each([
  ['http://h', '/openai', 'http://h', 'http://h/openai'],
  ['http://h:1/', '/api/v3/', 'http://h:1', 'http://h:1/api/v3'],
  ['http://h/llm', '/openai', 'http://h/llm', 'http://h/llm/openai'],
  ['http://h/llm/v1', '/api/v3', 'http://h/llm', 'http://h/llm/api/v3'],
  ['http://h/v1beta/openai', '/v1', 'http://h', 'http://h/v1'],
  ['http://h/v1', '/', 'http://h', 'http://h'],
])('puts the API of %s at the named path %s', (baseUrl, apiPath, root, api) => {
  expect(serverUrls(baseUrl, apiPath)).toEqual({ root, api });
});
