import { harmless } from '../../terminal.js';
import { isUnguarded, UNGUARDED, wayLines, wayOf } from './plan-way.js';
import { predictionLines } from './plan-prediction.js';
import type { Noun } from '../verb.js';
import { PLAN } from '../views.js';

export const plans: Noun = {
  noun: 'plans',
  aliases: ['plan'],
  summary: 'Manage plans: rollouts that need approval',
  verbs: [
    {
      verb: 'list',
      operation: 'listAutopilotPlans',
      summary: 'List plans; those that are pending wait for an approval',
      examples: ['slipway plans list --state pending'],
      flags: [
        {
          flags: '--deployment <deployment>',
          summary: 'only plans for this deployment',
          query: 'deployment',
          source: 'deployment',
        },
        {
          flags: '--state <state>',
          summary: 'only plans in this state: pending, approved, rejected, expired or superseded',
          query: 'state',
        },
      ],
      view: PLAN,
    },
    {
      verb: 'show',
      operation: 'getAutopilotPlan',
      summary: 'Show a plan: its kind, prediction, cost, assumptions and outcomes, its rollout, changes and digest',
      examples: ['slipway plans show plan_0190f5c27bd87cc0a6b7d2f5e1a3c4d5 -o yaml'],
      view: PLAN,
      warningOf: (plan) => (isUnguarded(wayOf(plan)) ? UNGUARDED : undefined),
    },
    {
      verb: 'create',
      operation: 'createAutopilotPlan',
      summary: 'Propose a rollout',
      examples: [
        `slipway plans create chat --summary "two replicas" --rollout '{"spec_patch":{"scaling":{"min_replicas":2}}}'`,
      ],
      flags: [
        { flags: '--summary <text>', summary: 'what the plan does, for the approver', body: 'summary' },
        { flags: '--rollout <json>', summary: 'the rollout, or @file', body: 'rollout', as: 'json' },
        { flags: '--changes <json>', summary: 'changes of the plan, as a JSON patch', body: 'changes', as: 'json' },
        { flags: '--evidence <json>', summary: 'evidence for the plan', body: 'evidence', as: 'json' },
        { flags: '--predicted-impact <json>', summary: 'what the plan improves', body: 'predicted_impact', as: 'json' },
        { flags: '--risk <json>', summary: 'risk level and reasons', body: 'risk', as: 'json' },
        {
          flags: '--base-revision <revision>',
          summary: 'revision that the plan is based on',
          body: 'base_revision',
          source: 'revision',
        },
        {
          flags: '--base-spec-digest <digest>',
          summary: 'fail unless the base revision has this digest',
          body: 'base_spec_digest',
        },
      ],
      view: PLAN,
      argFields: ['deployment'],
    },
    {
      verb: 'approve',
      operation: 'approveAutopilotPlan',
      summary: 'Approve a plan as it is now, or as you read it with --plan-digest. You cannot approve your own plan',
      examples: ['slipway plans approve plan_0190f5c27bd87cc0a6b7d2f5e1a3c4d5 --comment "go" --yes'],
      flags: [
        { flags: '--plan-digest <digest>', summary: 'fail unless the plan has this digest', body: 'plan_digest' },
        { flags: '--comment <text>', summary: 'reason for the decision', body: 'comment' },
      ],
      tellsKey: true,
      confirm: 'yes',
      view: PLAN,
      // The approver sees what the plan should achieve and how it will be rolled out, and approves exactly that.
      prepare: async (session, given, client) => {
        const plan = await client.autopilot.plans.get(given.args[0]!, { signal: session.signal });
        for (const line of [...predictionLines(plan), ...wayLines(wayOf(plan))]) session.note(harmless(line));
        if (isUnguarded(wayOf(plan))) session.output.warn(UNGUARDED);
        given.body = { plan_digest: plan.content_digest, ...given.body };
      },
    },
    {
      verb: 'reject',
      operation: 'rejectAutopilotPlan',
      summary: 'Reject a plan',
      examples: ['slipway plans reject plan_0190f5c27bd87cc0a6b7d2f5e1a3c4d5 --comment "too risky this week" --yes'],
      flags: [
        { flags: '--plan-digest <digest>', summary: 'fail unless the plan has this digest', body: 'plan_digest' },
        { flags: '--comment <text>', summary: 'reason for the decision', body: 'comment' },
      ],
      confirm: 'yes',
      view: PLAN,
    },
  ],
};
