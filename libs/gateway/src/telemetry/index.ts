// For the simulations, which use them with their own clock.
export type { AttemptRecord } from './measurement.js';
export { Recorder, type WaitingRequest } from './recorder.js';
export { idlest, InFlightCounter, Stay } from '../upstream/in-flight.js';
export { AnswerJudge } from '../answers/answer-judge.js';
