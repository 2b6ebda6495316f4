import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The accelerators of targets' hosts, and which instance holds which. */
export class Devices1700000000408 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table target_devices (
        target text not null,
        uuid text not null,
        device_index int not null,
        name text not null,
        memory_mb int,
        used_mb int,
        foreign_mb int not null default 0,
        is_usable boolean not null,
        problem text,
        stuck_above_mb int,
        measured_at timestamptz not null,
        primary key (target, uuid)
      )`);
    await runner.query(`
      create table target_device_looks (
        target text primary key,
        looked_at timestamptz not null,
        problem text
      )`);
    await runner.query(`
      create table device_claims (
        instance_id text not null references instances (id) on delete cascade,
        device_uuid text not null,
        position int not null,
        target text not null,
        tenant_id text not null,
        device_index int not null,
        device_name text not null,
        memory_mb int check (memory_mb > 0),
        before_mb int,
        peak_mb int,
        free_within_seconds int not null,
        claimed_at timestamptz not null default now(),
        ended_at timestamptz,
        primary key (instance_id, device_uuid)
      )`);
    await runner.query(
      `create unique index device_claims_one_owner on device_claims (device_uuid) where memory_mb is null`,
    );
    await runner.query(`create index device_claims_of_device on device_claims (device_uuid)`);
    const comments: Record<string, string> = {
      'table target_devices': `Accelerators of a target's host as they were seen last; written by the worker that leads the target`,
      'column target_devices.target': 'Execution target',
      'column target_devices.uuid': 'Stable over reboots; two targets of one host name a device alike',
      'column target_devices.device_index': 'By PCI bus; may change at a reboot',
      'column target_devices.name': 'Model, as its driver calls it',
      'column target_devices.memory_mb': 'MiB; null where the host does not tell',
      'column target_devices.used_mb': 'MiB; null where the host does not tell',
      'column target_devices.foreign_mb': 'MiB that processes hold which no instance has started',
      'column target_devices.is_usable': 'False while nothing can be started on it',
      'column target_devices.problem': 'Why it is not usable',
      'column target_devices.stuck_above_mb':
        'Faulty until no more than this is in use: its last owner is gone, and the memory has not come back in time',
      'column target_devices.measured_at': 'When the look began that saw it last',
      'table target_device_looks': `The last look at a target's devices`,
      'column target_device_looks.target': 'Execution target',
      'column target_device_looks.looked_at': 'When it began',
      'column target_device_looks.problem': 'Why the list may be wrong or old; null when nothing is wrong',
      'table device_claims':
        'Which instance holds which device, from before its start until its processes are gone and the memory is back',
      'column device_claims.instance_id': 'Holder',
      'column device_claims.device_uuid': 'Device of its host',
      'column device_claims.position': 'Order in which its engine sees them, from 0',
      'column device_claims.target': 'Execution target of the holder',
      'column device_claims.tenant_id': 'Owning tenant',
      'column device_claims.device_index': 'Index of the device at the last start',
      'column device_claims.device_name': 'Model of the device',
      'column device_claims.memory_mb': 'MiB of the device that it takes beside others; null = all of it',
      'column device_claims.before_mb': 'In use on the device before the start, MiB',
      'column device_claims.peak_mb': 'Most that was seen in use since, MiB',
      'column device_claims.free_within_seconds': 'How long the memory may take to come back after the end',
      'column device_claims.claimed_at': 'When it was given',
      'column device_claims.ended_at': 'When the holder was seen to be over; null while it may run',
    };
    for (const [what, text] of Object.entries(comments))
      await runner.query(`comment on ${what} is '${text.replaceAll("'", "''")}'`);
    await runner.query(`select slipway_system_table('target_devices'), slipway_system_table('target_device_looks')`);
    await runner.query(`select slipway_tenant_table('device_claims')`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table device_claims, target_device_looks, target_devices');
  }
}
