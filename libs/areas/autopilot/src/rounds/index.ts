/* The pure part of a round, for tools that drive it on a clock of their own. */
export { ideaKeyOf } from '../learning/idea.js';
export { outcomesOf } from '../learning/outcomes.js';
export { revertDraft } from '../learning/revert.js';
export type { PlanDraft } from '../plans/plan-author.js';
export { draftOf, gateOf } from './draft.js';
export { evaluate, summaryOf } from './evaluation.js';
export { diagnosisInputOf, goalsOf } from './goals.js';
export { rangesOf, type ReadRanges } from './read-ranges.js';
export type { Evaluation, Finding, Proposal, ProposalHistory, ReviewRecords, Situation } from './situation.js';
