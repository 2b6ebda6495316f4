import type { Layout } from '../forms/layout.js';

export const CANCEL_OPERATION: Layout = {
  operation: 'cancelOperation',
  shown: { '': ['reason'] },
  words: { reason: { hint: "It stands in the operation's record and in the event. May be left empty." } },
};

const COMMENT = { comment: { hint: 'For who reads the plan and the audit.' } };

export const APPROVE_PLAN: Layout = {
  operation: 'approveAutopilotPlan',
  shown: { '': ['comment'] },
  fixed: ['plan_digest'],
  words: COMMENT,
};

export const REJECT_PLAN: Layout = { ...APPROVE_PLAN, operation: 'rejectAutopilotPlan' };
