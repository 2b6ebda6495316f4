import type { Layout } from '../forms/layout.js';

export const CANCEL_OPERATION: Layout = {
  operation: 'cancelOperation',
  shown: { '': ['reason'] },
  words: { reason: { hint: "Optional. Shown in the operation's record and in its event." } },
};

export const PAUSE_OPERATION: Layout = { ...CANCEL_OPERATION, operation: 'pauseOperation' };

/** All fields of its request, which may have none. */
export const RESUME_OPERATION: Layout = { operation: 'resumeOperation', shown: {} };

export const PROMOTE_OPERATION: Layout = { ...CANCEL_OPERATION, operation: 'promoteOperation', fixed: ['to'] };

const COMMENT = { comment: { hint: 'Optional. Shown with the plan and in the audit log.' } };

export const APPROVE_PLAN: Layout = {
  operation: 'approveAutopilotPlan',
  shown: { '': ['comment'] },
  fixed: ['plan_digest'],
  words: COMMENT,
};

export const REJECT_PLAN: Layout = { ...APPROVE_PLAN, operation: 'rejectAutopilotPlan' };
