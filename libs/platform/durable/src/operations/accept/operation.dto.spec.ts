import { expect, it } from '@jest/globals';
import { operationAnswer } from './operation.dto.js';

it('answers a new operation with 202, its location and the time until the next poll', () => {
  const answer = operationAnswer('op_1', '{"id":"op_1"}', true);
  expect(answer.status).toBe(202);
  expect(answer.headers).toEqual({ location: '/api/v1/operations/op_1', 'retry-after': '1' });
  expect(JSON.parse(answer.body!.text)).toEqual({ operation: { id: 'op_1' }, created: true });
});

it('answers an adopted operation with 200, its location and the replay header', () => {
  const answer = operationAnswer('op_1', '{}', false);
  expect(answer.status).toBe(200);
  expect(answer.headers).toEqual({ location: '/api/v1/operations/op_1', 'idempotency-replayed': 'true' });
  expect(JSON.parse(answer.body!.text)).toEqual({ operation: {}, created: false });
});
