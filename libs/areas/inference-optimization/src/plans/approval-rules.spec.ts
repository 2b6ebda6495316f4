import { expect, it } from '@jest/globals';
import type { Owner } from '@slipway/contracts';
import type { SlipwayError } from '@slipway/platform-http';
import type { Approver } from '@slipway/ports/plans';
import { assertMayApprovePlan, assertMayApproveStep, type ApprovedPlan, type Creator } from './approval-rules.js';

const person = (id: string): Owner => ({ type: 'person', id });
const service = (id: string): Owner => ({ type: 'service', id });
const TOKEN = { type: 'token', id: 'tok_1' } as const;
const USER = { type: 'user', id: 'ada' } as const;
const ADA = person('user:ada');
const [ALICE, BOB] = [person('alice'), person('bob')];

function outcome(who: Partial<Approver>, creator: Partial<ApprovedPlan['creator']>, rules: Partial<ApprovedPlan> = {}) {
  const plan = {
    creator: { actor: TOKEN, owner: ALICE, minters: [], ...creator },
    preventSelfApproval: true,
    requireHostedIdentity: false,
    ...rules,
  };
  return outcomeOf(() => assertMayApprovePlan({ actor: TOKEN, owner: BOB, minters: [], ...who }, plan));
}

function outcomeOf(judge: () => void): string {
  try {
    judge();
    return 'approves';
  } catch (refusal) {
    return (refusal as SlipwayError).code;
  }
}

const HOSTED = { requireHostedIdentity: true };
const SELF = { preventSelfApproval: false };

it.each<[string, Partial<Approver>, Partial<ApprovedPlan['creator']>, Partial<ApprovedPlan>, string]>([
  ['another person', {}, {}, {}, 'approves'],
  ['the creator', { owner: ALICE }, {}, {}, 'self_approval_forbidden'],
  ['the creator, where the policy lets them', { owner: ALICE }, {}, SELF, 'approves'],
  ['with a token that came from the creator', { minters: [BOB, ALICE] }, {}, {}, 'self_approval_forbidden'],
  ['with such a token, where the policy lets them', { minters: [ALICE] }, {}, SELF, 'approves'],
  ['with a token that came from a service that plans', { minters: [service('alice')] }, {}, {}, 'approves'],
  ['with a token of the service that planned', { minters: [BOB] }, { owner: service('bob') }, {}, 'approves'],
  ['who minted the token of the creator', {}, { minters: [BOB] }, {}, 'approves'],
  ['the autopilot’s plan, anybody', {}, { owner: null }, {}, 'approves'],
  ['a service', { owner: service('ci') }, {}, {}, 'approver_not_a_person'],
  ['a service, the autopilot’s plan', { owner: service('ci') }, { owner: null }, SELF, 'approver_not_a_person'],
  ['a token, where the policy wants an identity', {}, {}, HOSTED, 'hosted_identity_required'],
  ['a token that an identity minted', { owner: ADA }, {}, { ...HOSTED, ...SELF }, 'hosted_identity_required'],
  ['an identity', { actor: USER, owner: ADA }, {}, HOSTED, 'approves'],
  ['an identity, its own', { actor: USER, owner: ADA }, { owner: ADA }, HOSTED, 'self_approval_forbidden'],
  [
    'an identity, of a token it minted',
    { actor: USER, owner: ADA },
    { minters: [ADA] },
    HOSTED,
    'self_approval_forbidden',
  ],
  ['such a one, where any token approves', { actor: USER, owner: ADA }, { minters: [ADA] }, {}, 'approves'],
])('the rules judge an approver: %s', (_who, who, creator, rules, expected) => {
  expect(outcome(who, creator, rules)).toBe(expected);
});

const CI = service('ci');

it.each<[string, Partial<Approver>, Partial<Creator>, Partial<ApprovedPlan>, string]>([
  ['another person', {}, {}, {}, 'approves'],
  ['another service', { owner: service('bot') }, { owner: CI }, {}, 'approves'],
  ['a person, of a service', {}, { owner: CI }, {}, 'approves'],
  ['the person who began it', { owner: ALICE }, {}, {}, 'self_approval'],
  ['the service that began it', { owner: CI }, { owner: CI }, {}, 'self_approval'],
  ['the one who began it, if the policy allows that', { owner: ALICE }, {}, SELF, 'approves'],
  ['with a token that came from one of theirs', { owner: CI, minters: [BOB, ALICE] }, {}, {}, 'self_approval'],
  ['who minted the token that began it', {}, { owner: CI, minters: [BOB] }, {}, 'approves'],
  ['the same, with hosted identities', {}, { owner: CI, minters: [BOB] }, HOSTED, 'self_approval'],
  ['what Slipway began', {}, { owner: null }, {}, 'approves'],
])('a step of an operation is approved by all but the one who began it: %s', (_who, who, creator, rules, expected) => {
  const approver = { actor: TOKEN, owner: BOB, minters: [], ...who };
  const all = { preventSelfApproval: true, requireHostedIdentity: false, ...rules };
  expect(outcomeOf(() => assertMayApproveStep(approver, { owner: ALICE, minters: [], ...creator }, all))).toBe(
    expected,
  );
});
