export type { Change, Match, Oddity, StubApi, StubOptions, StubRequest, StubStore, Verb } from './contract.js';
export { playUnits, type UnitPlay } from './unit-play.js';
export { startStubApi } from './stub-api.js';
