// For the simulation of the gate, which reads the records of its own clock.
export * from './analysis.js';
export { GUARDS } from './guards.js';
export { judgeEarly, judgeSoak, type CheckWindow, type GateRecords, type Judgement } from './judgement.js';
export { beginWatch, dueChecks, watchedShares, watchOn } from './watch.js';
export type { StoredGate, Strategy } from '../rollout.input.js';
