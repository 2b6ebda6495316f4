import { DiscoveryService } from '@nestjs/core';
import { Database } from '@slipway/platform-database';
import { Inbox } from '@slipway/platform-durable/events';
import { Schedule } from '@slipway/platform-durable/scheduling';
import { owned } from '@slipway/platform-testing/contract';
import type { TestApi } from '../harness/boot-api.js';
import { writeServedWindows, type ServedTraffic } from './served-windows.js';

/** Receives events, as a worker does. */
export async function openInbox(api: TestApi): Promise<Inbox> {
  const inbox = new Inbox(api.app.get(Database, { strict: false }), api.app.get(DiscoveryService, { strict: false }));
  await inbox.onApplicationBootstrap();
  return inbox;
}

/** The merge begins anew for each test, and would read the rows of all tests before. */
export async function forgetRecords(api: TestApi): Promise<void> {
  for (const table of ['dataplane_request_stats', 'dataplane_service_records'])
    await owned(api, `delete from ${table}`);
}

/** A gateway that has not reported for ten seconds counts as gone, and a test may take longer: it reports ahead. */
export async function reportGateway(api: TestApi): Promise<void> {
  await owned(
    api,
    `insert into dataplane_gateways (gateway_id, seen_at, stats_until)
    select 'gw', ahead, ahead from (select clock_timestamp() + interval '1 hour' as ahead)
    on conflict (gateway_id) do update set seen_at = excluded.seen_at, stats_until = excluded.stats_until`,
  );
}

/** Lets the gateway have recorded this traffic of a revision until now. */
export async function recordTraffic(
  api: TestApi,
  deploymentId: string,
  revisionId: string,
  traffic: Partial<ServedTraffic>,
): Promise<void> {
  const [row] = await owned<{ tenantId: string; now: Date }>(
    api,
    `select tenant_id "tenantId", clock_timestamp() now from deployments where id = $1`,
    [deploymentId],
  );
  const { tenantId, now } = row!;
  await writeServedWindows((sql, values) => owned(api, sql, values), { revisionId, tenantId }, now, traffic);
  await api.app.get(Schedule, { strict: false }).runNow('service-records');
}

/** Does a worker's work of one second, including this deployment. */
export async function sweepRounds(api: TestApi, inbox: Inbox, deploymentId: string): Promise<void> {
  await inbox.drain();
  await owned(api, `update autopilot_schedules set next_run_at = now() + interval '1 hour'`);
  await owned(api, `update autopilot_schedules set next_run_at = now() where deployment_id = $1`, [deploymentId]);
  await api.app.get(Schedule, { strict: false }).runNow();
}
