// For the simulation of the gate, which uses them with its own clock.
export { Recorder, type WaitingRequest } from './recorder.js';
export { InFlightCounter, Stay } from '../upstream/in-flight.js';
export { AnswerJudge } from '../answers/answer-judge.js';
