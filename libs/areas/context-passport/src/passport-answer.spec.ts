import { expect, it } from '@jest/globals';
import { KeyRing } from '@slipway/platform-config';
import { passportKey, type PassportRow } from '@slipway/dataplane';
import { passportAnswer, stateOf } from './passport-answer.js';

const key = passportKey(new KeyRing(Buffer.alloc(32, 1)));
const now = new Date('2026-01-01T00:00:00Z');
const later = new Date(now.getTime() + 1);

const row = (more: Partial<PassportRow> = {}): PassportRow => ({
  id: 'cp_1',
  tenant_id: 'ten_1',
  deployment_id: 'dep_1',
  deployment_name: 'chat',
  key_hash: 'h',
  source: 'user',
  subject: null,
  mode: 'soft',
  ttl_seconds: 60,
  revision_id: 'rev_1',
  revision_name: 'chat-00001',
  instance_id: 'ins_secret',
  bound_at: now,
  created_at: now,
  last_seen_at: now,
  expires_at: later,
  revoked_at: null,
  requests: 1,
  hits: -1,
  misses: 1,
  rebinds: 0,
  last_rebind_reason: null,
  ...more,
});

it('a passport is expired from the moment of its expiry, and revoked whatever the clock says', () => {
  expect(stateOf({ revoked_at: null, expires_at: later }, now)).toBe('active');
  expect(stateOf({ revoked_at: null, expires_at: now }, now)).toBe('expired');
  expect(stateOf({ revoked_at: now, expires_at: now }, now)).toBe('revoked');
});

it('a passport shows a target that distinguishes sessions on one instance, and nothing of the instance', () => {
  const shown = passportAnswer(row(), key, now);
  expect(shown.affinity.target).toMatch(/^tgt_[0-9a-f]{16}$/);
  expect(JSON.stringify(shown)).not.toContain('ins_secret');
  expect(passportAnswer(row({ id: 'cp_2' }), key, now).affinity.target).toBe(shown.affinity.target);
  expect(passportAnswer(row({ instance_id: 'ins_2' }), key, now).affinity.target).not.toBe(shown.affinity.target);
  expect(passportAnswer(row({ tenant_id: 'ten_2' }), key, now).affinity.target).not.toBe(shown.affinity.target);
  expect(shown.stats.hits).toBe(0);
});

it('a passport shows no affinity that gateways no longer keep', () => {
  for (const over of [row({ revoked_at: now }), row({ expires_at: now })]) {
    expect(passportAnswer(over, key, now).affinity).toMatchObject({ revision: null, target: null, bound_at: null });
  }
});
