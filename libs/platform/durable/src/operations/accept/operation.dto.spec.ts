import { expect, it } from '@jest/globals';
import { operationAnswer } from './operation.dto.js';

it('answers where to look, and when', () => {
  const answer = operationAnswer('op_1', '{"id":"op_1"}', true);
  expect(answer.status).toBe(202);
  expect(answer.headers).toEqual({ location: '/api/v1/operations/op_1', 'retry-after': '1' });
  expect(JSON.parse(answer.body!.text)).toEqual({ operation: { id: 'op_1' }, created: true });
});

it('says that it was adopted where it was', () => {
  const answer = operationAnswer('op_1', '{}', false);
  expect(answer.status).toBe(200);
  expect(answer.headers).toEqual({ location: '/api/v1/operations/op_1', 'idempotency-replayed': 'true' });
  expect(JSON.parse(answer.body!.text)).toEqual({ operation: {}, created: false });
});
