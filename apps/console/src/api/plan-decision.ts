import { request as approval } from 'request:approveAutopilotPlan';
import { request as rejection } from 'request:rejectAutopilotPlan';
import { useSchemaForm, type SchemaFormState } from '../forms/use-schema-form.js';
import { APPROVE_PLAN, REJECT_PLAN } from './decision-layouts.js';

export type PlanDecision = 'approve' | 'reject';

export interface PlanDecisionBody {
  plan_digest: string;
  comment?: string;
}

/** A person's word on a plan, on exactly what they have read: its digest goes along. */
export function usePlanDecision(decision: PlanDecision, plan_digest: string): SchemaFormState<PlanDecisionBody> {
  const isApproval = decision === 'approve';
  return useSchemaForm(isApproval ? approval : rejection, isApproval ? APPROVE_PLAN : REJECT_PLAN, {
    fixed: { plan_digest },
  });
}
