import { request as approval } from 'request:approveAutopilotPlan';
import { request as rejection } from 'request:rejectAutopilotPlan';
import { useSchemaForm, type SchemaFormState } from '../forms/use-schema-form.js';
import { APPROVE_PLAN, REJECT_PLAN } from './decision-layouts.js';

export type PlanDecision = 'approve' | 'reject';

export interface PlanDecisionBody {
  plan_digest: string;
  comment?: string;
}

/** Decides a plan exactly as the person has read it: the request contains its digest. */
export function usePlanDecision(decision: PlanDecision, plan_digest: string): SchemaFormState<PlanDecisionBody> {
  const isApproval = decision === 'approve';
  return useSchemaForm(isApproval ? approval : rejection, isApproval ? APPROVE_PLAN : REJECT_PLAN, {
    fixed: { plan_digest },
  });
}
