import 'reflect-metadata';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { KeyRing } from '@slipway/platform-config';
import { AuditKeys } from '../src/audit-keys.js';
import { verifyAudit } from '../src/audit-verifier.js';
import { auditVerify } from '../src/audit-verify.js';
import { AuditBed, OTHER, SECRET_KEY, TENANT } from './audit-bed.js';

const ROTATED = Buffer.alloc(32, 2);
const ROWS = ['one', 'two', 'three', 'four', 'five', 'six'];

let bed: AuditBed;
let folder: string;
let printed: string;

beforeAll(async () => {
  bed = await AuditBed.start();
  folder = mkdtempSync(path.join(tmpdir(), 'slipway-audit-'));
});
afterAll(async () => {
  await bed?.stop();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  printed = '';
  for (const stream of [process.stdout, process.stderr] as const)
    jest.spyOn(stream, 'write').mockImplementation((text) => ((printed += String(text)), true));
  await bed.append(...ROWS);
  await bed.sealer()();
});
afterEach(async () => {
  jest.restoreAllMocks();
  await bed.empty();
});

/** Returns the output and the exit status of the command. */
async function verify(...args: string[]): Promise<{ status: number; out: string }> {
  printed = '';
  return { status: await auditVerify(bed.config, args), out: printed };
}

async function expected(): Promise<string> {
  const { sequence, hash } = await bed.head();
  return `${TENANT}:${sequence}:${hash}`;
}

const broken = async (keys = AuditKeys.of(bed.config)) =>
  (await verifyAudit(bed.db, keys, { tenant: TENANT }))[0]!.broken;

describe('an intruder who has the database and not the key', () => {
  it('cannot rewrite a row and all that follows, head included', async () => {
    await bed.owner.query(`update audit_log set actor = 'token:nobody' where tenant_id = $1 and sequence = 3`, [
      TENANT,
    ]);
    await bed.rehash();
    expect(await broken()).toMatchObject({ sequence: 3, problem: expect.stringContaining('without the key') });
    expect((await verify()).status).toBe(1);
  });

  it('cannot take a row out and close the gap', async () => {
    await bed.owner.query(`delete from audit_log where tenant_id = $1 and sequence = 3`, [TENANT]);
    await bed.owner.query(`update audit_log set sequence = -sequence where tenant_id = $1 and sequence > 3`, [TENANT]);
    await bed.owner.query(`update audit_log set sequence = -sequence - 1 where tenant_id = $1 and sequence < 0`, [
      TENANT,
    ]);
    await bed.rehash();
    expect(await broken()).toMatchObject({ sequence: 3, problem: expect.stringContaining('without the key') });
  });

  it('cannot put a second row next to a sealed one, even where a page of the verifier ends', async () => {
    await bed.owner.query('alter table audit_log drop constraint audit_log_tenant_id_sequence_key');
    const columns =
      'tenant_id, at, actor, action, resource_type, resource_name, sequence, previous_hash, hash, key_id, seal';
    try {
      for (const sequence of [3, 6]) {
        await bed.owner.query(
          `insert into audit_log (id, request_id, ${columns}) select 'aud_second', repeat('x', 2000000), ${columns}
           from audit_log where tenant_id = $1 and sequence = $2`,
          [TENANT, sequence],
        );
        expect(await broken()).toMatchObject({ sequence, id: 'aud_second' });
        await bed.owner.query(`delete from audit_log where id = 'aud_second'`);
      }
      expect(await broken()).toBeUndefined();
    } finally {
      await bed.owner.query(
        'alter table audit_log add constraint audit_log_tenant_id_sequence_key unique (tenant_id, sequence)',
      );
    }
  });

  it('cannot go back to hashes without seals, in the middle or from the start', async () => {
    await bed.rehash({ from: 4, without: true });
    expect(await broken()).toMatchObject({ sequence: 4, problem: 'it has no seal, and the row before it has one' });
    await bed.rehash({ without: true });
    expect(await broken()).toMatchObject({ sequence: 6, problem: expect.stringContaining('rows 1 to 6 have no seal') });
    // A worker that seals later rows does not vouch for the existing ones.
    await bed.append('seven');
    await bed.sealer()();
    expect(await broken()).toMatchObject({ sequence: 6, problem: expect.stringContaining('rows 1 to 6 have no seal') });
    expect((await verify()).status).toBe(1);
  });

  it('cannot make a worker that knows the chain seal it again', async () => {
    const error = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
    const seal = bed.sealer();
    await bed.append('seven');
    await seal();
    await bed.owner.query(
      `update audit_log set sequence = null, previous_hash = null, hash = null, key_id = null, seal = null, actor = 'token:nobody'`,
    );
    await bed.owner.query(`update audit_heads set sequence = 0, hash = repeat('0', 64)`);
    await seal();
    expect(error).toHaveBeenCalledWith(expect.stringContaining('the head of the chain moved back from row 7 to row 0'));
    expect((await bed.head()).sequence).toBe(0);
  });
});

it('an intruder who holds the head of a chain, so that its rows stay unsealed, is reported once a minute', async () => {
  const error = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
  const seal = bed.sealer();
  await bed.append('seven');
  await bed.owner.query('begin');
  await bed.owner.query('select from audit_heads for update');
  try {
    await seal();
    const begun = performance.now();
    const clock = jest.spyOn(performance, 'now');
    for (const seconds of [59, 61, 62, 120, 122]) {
      clock.mockReturnValue(begun + seconds * 1_000);
      await seal();
    }
    clock.mockRestore();
  } finally {
    await bed.owner.query('rollback');
  }
  expect(error.mock.calls.map(([text]) => text)).toEqual(
    Array(2).fill(expect.stringContaining(`The new audit rows of ${TENANT} have not been sealed for a minute`)),
  );
  await seal();
  expect((await bed.head()).sequence).toBe(7);
});

describe('a head that was kept elsewhere', () => {
  it('is found in its chain, also after more rows, and by the name of its tenant', async () => {
    const head = await expected();
    await bed.append('seven');
    await bed.sealer()();
    expect(await verify('--expect-head', head)).toMatchObject({ status: 0 });
    expect(await verify('--expect-head', head.replace(TENANT, `${TENANT}-name`))).toMatchObject({ status: 0 });
  });

  it('shows that the tail was cut, with the head set back', async () => {
    const head = await expected();
    await bed.owner.query(`delete from audit_log where tenant_id = $1 and sequence > 4`, [TENANT]);
    await bed.rehash();
    expect(await verify()).toMatchObject({ status: 0 });
    expect(await verify('--expect-head', head)).toEqual({
      status: 1,
      out: expect.stringContaining(
        `broken "${TENANT}-name" at row 5: the chain ends at row 4, but a head is expected at row 6`,
      ),
    });
  });

  it('shows that the owner of the key sealed the chain again', async () => {
    const head = await expected();
    await bed.owner.query(`update audit_log set sequence = null, actor = 'token:nobody' where tenant_id = $1`, [
      TENANT,
    ]);
    await bed.owner.query(`delete from audit_heads`);
    await bed.sealer()();
    expect(await verify()).toMatchObject({ status: 0 });
    expect(await verify('--expect-head', head)).toEqual({
      status: 1,
      out: expect.stringMatching(/at row 6 \(aud_.*\): the head [0-9a-f]{64} is expected here/),
    });
  });

  it('shows that a tenant is gone altogether', async () => {
    const gone = `ten_gone:3:${'a'.repeat(64)}`;
    expect(await verify('--expect-head', gone)).toEqual({
      status: 1,
      out: expect.stringContaining('the tenant does not exist'),
    });
    expect(await verify('--tenant', OTHER, '--expect-head', gone)).toMatchObject({ status: 0 });
  });

  it('is found in a file among other text; a file without a head, or no file, is no proof', async () => {
    const file = path.join(folder, 'kept');
    const head = await expected();
    writeFileSync(file, `{"level":"info","audit_anchor":"${head}"}\nnothing here\n{"torn":"${head.slice(0, 40)}`);
    expect(await verify('--anchors', file)).toMatchObject({ status: 0 });
    writeFileSync(file, `{"audit_anchor":"${head}"}\n{"audit_anchor":"${TENANT}:2:${'b'.repeat(64)}"}\n`);
    expect(await verify('--anchors', file)).toMatchObject({ status: 1, out: expect.stringContaining('at row 2') });
    writeFileSync(file, 'no head\n');
    expect(await verify('--anchors', file)).toMatchObject({
      status: 2,
      out: expect.stringContaining('contains no heads'),
    });
    expect(await verify('--anchors', path.join(folder, 'none'))).toMatchObject({
      status: 2,
      out: expect.stringContaining('ENOENT'),
    });
    expect(await verify('--expect-head', `${TENANT}:6`)).toMatchObject({
      status: 2,
      out: expect.stringContaining('usage'),
    });
  });
});

describe('the key', () => {
  it('is named if it is the wrong one, and its chain is not called changed', async () => {
    const wrong = new AuditKeys(new KeyRing(ROTATED));
    const { id } = AuditKeys.of(bed.config).current;
    expect(await broken(wrong)).toMatchObject({
      sequence: 1,
      problem: `its seal was made with the key ${id}, which is not configured here (${wrong.current.id}): SLIPWAY_SECRET_KEY is wrong, or the row was rewritten`,
    });
  });

  it('may change: a verifier that has both keys accepts older and newer rows', async () => {
    await bed.append('seven');
    await bed.sealer(new KeyRing(ROTATED))();
    const both = new AuditKeys(new KeyRing(ROTATED, [SECRET_KEY]));
    expect(await broken(both)).toBeUndefined();
    expect(await broken()).toMatchObject({ sequence: 7, problem: expect.stringContaining(both.current.id) });
  });

  it('seals rows that follow unsealed ones, which are proven only by a known head', async () => {
    await bed.rehash({ without: true });
    const before = await expected();
    await bed.append('seven');
    await bed.sealer()();
    expect(await verify()).toEqual({ status: 1, out: expect.stringContaining(`pass --expect-head ${before}\n`) });
    expect(await verify('--expect-head', before)).toMatchObject({ status: 0 });
    const now = await expected();
    expect(await verify('--expect-head', now)).toMatchObject({
      status: 0,
      out: expect.stringContaining(`head=${now} `),
    });
    // The output of the command is also a file of heads.
    const file = path.join(folder, 'printed');
    writeFileSync(file, (await verify()).out);
    expect(await verify('--anchors', file)).toMatchObject({ status: 0 });
    await bed.owner.query(`update audit_log set actor = 'token:nobody' where tenant_id = $1 and sequence = 3`, [
      TENANT,
    ]);
    expect(await broken()).toMatchObject({ sequence: 3, problem: 'it was changed after it was sealed' });
  });

  it('is required by the table: an older worker without a key cannot extend a chain', async () => {
    await bed.append('seven');
    const asBefore = `update audit_log set sequence = 7, previous_hash = repeat('a', 64), hash = repeat('b', 64) where sequence is null`;
    await expect(bed.db.read('system', asBefore)).rejects.toMatchObject({ code: '23514' });
    await bed.sealer()();
    expect(await broken()).toBeUndefined();
  });

  it('a head vouches only for the rows up to it', async () => {
    await bed.rehash({ without: true });
    const { rows } = await bed.owner.query('select hash from audit_log where tenant_id = $1 and sequence = 5', [
      TENANT,
    ]);
    expect(await verify('--expect-head', `${TENANT}:5:${rows[0].hash}`)).toMatchObject({
      status: 1,
      out: expect.stringContaining('rows 1 to 6 have no seal'),
    });
  });

  it('never appears in rows: neither of its two derivations is the secret key', () => {
    const { id, key } = AuditKeys.of(bed.config).current;
    expect(id).toMatch(/^[0-9a-f]{8}$/);
    expect(key.export().equals(SECRET_KEY)).toBe(false);
    expect(new AuditKeys(new KeyRing(ROTATED)).current.id).not.toBe(id);
  });
});
