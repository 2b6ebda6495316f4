import { expect, it } from '@jest/globals';
import type { AnswerFault, AnswerJudgement } from '../answers/answer-judge.js';
import { answerTooLarge, tooManyBytes, upstreamFailed } from '../gateway.errors.js';
import { outcomeOf, outcomeOfError, outcomeOfLeaving, outcomeOfStop, type JudgedAnswer } from './outcome.js';

const FAULTS: AnswerFault[] = [
  'status',
  'redirect',
  'credential',
  'model_missing',
  'error_in_answer',
  'empty',
  'unreadable',
  'incomplete',
  'too_large',
  'silent',
];
const good: AnswerJudgement = { outcome: 'ok', fault: null, isEngineError: false, error: null };

function answered(judgement: Partial<AnswerJudgement>, more: Partial<JudgedAnswer> = {}): JudgedAnswer {
  return { judgement: { ...good, ...judgement }, status: 200, hasOwnKey: false, isCut: false, ...more };
}
const failed = (fault: AnswerFault, more: Partial<JudgedAnswer> = {}): JudgedAnswer =>
  answered({ outcome: 'server_error', fault }, more);

it('an error of the gateway replaces every failed answer, except one with a failed status of its own', () => {
  const statuses = FAULTS.map((fault) => [fault, outcomeOf(failed(fault)).error?.status ?? null]);
  expect(Object.fromEntries(statuses)).toEqual({
    ...Object.fromEntries(FAULTS.map((fault) => [fault, 502])),
    status: null,
    silent: 504,
  });
  for (const fault of FAULTS) expect(outcomeOf(failed(fault)).class).toBe('server_error');
});

it('neither an overloaded engine nor an answer beyond the ceiling is a failure of the instance', () => {
  expect(outcomeOf(answered({ outcome: 'overloaded', fault: 'status' }, { status: 429 }))).toMatchObject({
    instance: 'fine',
    retry: 'elsewhere',
    error: null,
  });
  expect(outcomeOf(failed('too_large'))).toMatchObject({ instance: 'fine', retry: 'never' });
});

it('an error that the engine wrote counts differently from an answer without one', () => {
  const of = (isEngineError: boolean) =>
    outcomeOf(answered({ outcome: 'server_error', fault: 'status', isEngineError }, { status: 500 })).instance;
  expect([of(true), of(false), outcomeOf(failed('error_in_answer')).instance]).toEqual([
    'engine_error',
    'failed',
    'engine_error',
  ]);
});

it('a refused key of an engine’s own means that another server has its address', () => {
  expect(outcomeOf(failed('credential', { status: 401, hasOwnKey: true }))).toMatchObject({
    class: 'connect_error',
    instance: 'taken',
    retry: 'spare',
  });
});

it('only answers that the server refused to work on are tried again on the same instance', () => {
  const retries = [500, 502, 503, 504].map((status) => outcomeOf(failed('status', { status })).retry);
  expect(retries).toEqual(['never', 'anywhere', 'anywhere', 'never']);
  expect([outcomeOf(failed('incomplete')).retry, outcomeOf(failed('incomplete', { isCut: true })).retry]).toEqual([
    'elsewhere',
    'never',
  ]);
});

it('an answer that the gateway stops reading fails by its reason to stop', () => {
  const outcome = outcomeOf(failed('incomplete', { isCut: true }));
  expect(outcomeOfStop(answerTooLarge(), outcome)).toMatchObject({ fault: 'too_large', instance: 'fine' });
  expect(outcomeOfStop(tooManyBytes('all clients'), outcome)).toMatchObject({ class: 'cancelled', instance: 'fine' });
  expect(outcomeOfStop(upstreamFailed(), outcome)).toMatchObject({ fault: 'incomplete', instance: 'failed' });
  const refused = outcomeOf(answered({ outcome: 'client_error', fault: 'status' }, { status: 400 }));
  expect(outcomeOfStop(answerTooLarge(), refused)).toMatchObject({ class: 'client_error', error: null });
});

it('a connection that fails before an answer says whether another instance may be tried', () => {
  expect(outcomeOfError({ code: 'ECONNREFUSED' })).toMatchObject({ class: 'connect_error', retry: 'spare' });
  expect(outcomeOfError({ code: 'EGRESS_REFUSED' })).toMatchObject({ class: 'connect_error', retry: 'never' });
  expect(outcomeOfError({ code: 'UND_ERR_HEADERS_TIMEOUT' })).toMatchObject({ fault: 'silent', retry: 'never' });
});

it('a client abandons a request if it leaves after two seconds without a first token', () => {
  expect([outcomeOfLeaving(true, 1_999), outcomeOfLeaving(true, 2_000), outcomeOfLeaving(false, 60_000)]).toEqual([
    'cancelled',
    'abandoned',
    'cancelled',
  ]);
});
