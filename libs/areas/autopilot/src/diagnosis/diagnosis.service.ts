import { Inject, Injectable } from '@nestjs/common';
import { multiplyMoney } from '@slipway/platform-config';
import { Database, type Tx } from '@slipway/platform-database';
import { errors, type Principal } from '@slipway/platform-http';
import { DEPLOYMENTS, type Deployment, type DeploymentsPort } from '@slipway/ports/deployment-records';
import { POLICIES, type PoliciesPort, type Policy } from '@slipway/ports/policies';
import { REVISIONS, type RevisionsPort } from '@slipway/ports/revisions';
import pLimit from 'p-limit';
import { Situations } from '../rounds/advisor.js';
import { judgeAvailability } from '../rounds/goals.js';
import { RecordsReader } from '../rounds/records-reader.js';
import { reviewOf } from '../rounds/review.js';
import { ScheduleStore } from '../rounds/schedule.store.js';
import { replicasNow, scaleOf, type ReviewRecords, type Situation } from '../rounds/situation.js';
import { availabilityAnswer, sloAnswer, workloadAnswer } from './diagnosis-answer.js';
import type { DiagnosisDto } from './diagnosis.dto.js';

/** One diagnosis takes up to 100 ms of processor time, and other requests must not wait for many of them. */
const AT_ONCE = 1;
const IN_WAIT = 50;

/** Answers why the SLOs of a deployment are met or missed, from the records of this moment. Writes nothing. */
@Injectable()
export class DiagnosisService {
  private readonly limit = pLimit(AT_ONCE);

  constructor(
    private readonly database: Database,
    private readonly schedules: ScheduleStore,
    private readonly situations: Situations,
    private readonly reader: RecordsReader,
    @Inject(DEPLOYMENTS) private readonly deployments: DeploymentsPort,
    @Inject(REVISIONS) private readonly revisions: RevisionsPort,
    @Inject(POLICIES) private readonly policies: PoliciesPort,
  ) {}

  async get({ tenantId }: Principal, name: string): Promise<DiagnosisDto> {
    if (this.limit.pendingCount >= IN_WAIT)
      throw errors.unavailable({
        message: `Too many concurrent requests for diagnoses: ${IN_WAIT} are already waiting. Retry in 2 s.`,
        headers: { 'retry-after': '2' },
      });
    return this.limit(() => this.database.tx({ tenantId }, (tx) => this.answer(tx, tenantId, name)));
  }

  private async answer(tx: Tx, tenantId: string, name: string): Promise<DiagnosisDto> {
    const deployment = await this.deployments.get(tx, tenantId, name);
    const policy = await this.policies.get(tx, deployment.id);
    const situation = await this.situation(tx, deployment, policy);
    const records = situation?.records;
    const common = {
      deployment: name,
      at: (await tx.now()).toISOString(),
      window: records ? { from: records.from.toISOString(), to: records.to.toISOString() } : null,
      decision: await this.schedules.lastDecision(tx, tenantId, deployment.id),
      cost: situation ? costNow(situation) : { now: null, devices: 0 },
    };
    if (!situation || !records) return { ...common, workload: workloadAnswer(policy.content, undefined), slos: [] };
    const { diagnosis } = reviewOf({ ...situation, records });
    const availability = judgeAvailability(policy.content, records.availability);
    return {
      ...common,
      workload: workloadAnswer(policy.content, diagnosis),
      slos: [
        ...diagnosis.goals.map(sloAnswer),
        ...(availability ? [availabilityAnswer(availability, replicasNow(scaleOf(situation), records.window))] : []),
      ],
    };
  }

  private async situation(tx: Tx, deployment: Deployment, policy: Policy): Promise<Situation | undefined> {
    const { activeRevisionId: id } = deployment;
    const [base] = id === null ? [] : await this.revisions.getMany(tx, [id]);
    if (!base) return undefined;
    const records: ReviewRecords | undefined = await this.reader.read(tx, base, policy.content);
    return this.situations.of(tx, { deployment, base, policy, records });
  }
}

function costNow(situation: Situation): DiagnosisDto['cost'] {
  const { devices, price, records } = situation;
  const count = replicasNow(scaleOf(situation), records?.window ?? []) * devices.count;
  return { now: price && multiplyMoney(price, count), devices: count };
}
