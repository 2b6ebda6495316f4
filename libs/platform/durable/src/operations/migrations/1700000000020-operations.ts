import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Operations1700000000020 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table operations (
        id text primary key,
        tenant_id text not null,
        kind text not null,
        resource_type text not null,
        resource_name text not null,
        resource_id text not null,
        stream text not null,
        status text not null default 'pending'
          check (status in ('pending','running','waiting','cancelling','succeeded','failed','cancelled')),
        phase text not null default 'forward' check (phase in ('forward','unwinding')),
        failure jsonb,
        progress int not null default 0 check (progress between 0 and 100),
        attempt int not null default 0,
        max_attempts int not null default 5,
        cancel_requested boolean not null default false,
        current_step text not null default '',
        current_step_status text not null default 'pending',
        awaiting text check (awaiting in ('approval','pause')),
        is_resumed boolean not null default false,
        error_code text,
        message text not null default '',
        result jsonb not null default '{}',
        retryable boolean not null default false,
        input jsonb not null default '{}',
        requested_by jsonb not null,
        reason text,
        superseded_by text,
        method text,
        path text,
        idempotency_key text,
        fingerprint text,
        lease_version bigint not null default 0,
        lease_owner text,
        lease_expires_at timestamptz,
        wake_at timestamptz,
        dispatch int not null default 1,
        dispatched_at timestamptz not null default now(),
        created_at timestamptz not null default now(),
        updated_at timestamptz not null default now(),
        completed_at timestamptz
      ) with (fillfactor = 70)`);
    await runner.query(
      `create unique index operations_idempotency on operations (tenant_id, method, path, idempotency_key) where idempotency_key is not null`,
    );
    await runner.query(`create index operations_newest on operations (tenant_id, id desc)`);
    await runner.query(
      `create index operations_live on operations (dispatched_at) where status in ('pending','running','waiting','cancelling')`,
    );
    await runner.query(`select slipway_tenant_table('operations')`);
    const comments: Record<string, string> = {
      kind: 'Which definition runs it, such as rollout',
      stream: 'The event stream its events go to',
      phase: 'forward = its steps; unwinding = undoing them after a failure or a cancel',
      failure: 'Why it unwinds: {code, message, retryable}; becomes error_code at the end',
      attempt: 'Tries of the current step; 0 = never picked up',
      awaiting: 'Set while it sleeps until a person acts',
      is_resumed: 'A person has resumed the current step',
      input: 'What its steps need; never changes',
      fingerprint: 'SHA-256 of the request an Idempotency-Key belongs to',
      lease_version: 'Fencing token: every write of a worker names the version it took',
      wake_at: 'It sleeps until then; null = as soon as possible',
      dispatch: 'Number of the newest queue job; part of its id',
      dispatched_at: 'When that job was put into the outbox; the sweeper repeats it when nothing follows',
    };
    await runner.query(
      `comment on table operations is 'Durable operations: what was asked, how far it is, how it ended. The row decides, the queue only wakes'`,
    );
    for (const [column, text] of Object.entries(comments))
      await runner.query(`comment on column operations.${column} is '${text}'`);
    await runner.query(`
      create table operation_steps (
        operation_id text not null references operations (id) on delete cascade,
        tenant_id text not null,
        name text not null,
        index int not null,
        is_unwind boolean not null default false,
        status text not null default 'pending'
          check (status in ('pending','running','waiting','succeeded','failed','skipped','cancelled')),
        started_at timestamptz,
        completed_at timestamptz,
        message text not null default '',
        evidence jsonb,
        result jsonb,
        state jsonb,
        primary key (operation_id, name)
      )`);
    await runner.query(`select slipway_tenant_table('operation_steps')`);
    await runner.query(
      `comment on table operation_steps is 'One row a step of an operation; an effect is keyed by (operation, step)'`,
    );
    await runner.query(`comment on column operation_steps.result is 'What the step committed, for the steps after it'`);
    await runner.query(`comment on column operation_steps.state is 'What a sleeping step keeps until it wakes'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table operation_steps');
    await runner.query('drop table operations');
  }
}
