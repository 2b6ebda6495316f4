import { endpointUrls } from '@slipway/contracts';
import { Injectable } from '@nestjs/common';
import { tenantName } from '@slipway/platform-http/auth';
import { Database, type Tx } from '@slipway/platform-database';
import type { AdoptedServer, Workload, RevisionSpecIssue } from '@slipway/ports/instances';
import { checkModelList, describeModels, type ModelsAnswer, type TargetDriver } from '@slipway/target-driver';
import { Not } from 'typeorm';
import { InstanceEntity } from '../workloads/instance.entity.js';
import type { WorkloadRow } from '../workloads/instance.query.js';
import { toInstanceSpec, TargetCatalog } from '../catalog/target-catalog.js';
import { TenantAccess } from './tenant-access.js';

const MOST_NOTES = 8;
const LONGEST_URL_SHOWN = 200;

type SpecOwner = Pick<WorkloadRow, 'tenant_id' | 'tenant_name' | 'revision_id' | 'spec'>;
type ModelExamination = { issues: RevisionSpecIssue[]; message?: string };

/** Checks whether a server that is to be adopted has the model that the spec names, as far as the server reports it. */
@Injectable()
export class AdoptedModels {
  constructor(
    private readonly database: Database,
    private readonly catalog: TargetCatalog,
    private readonly access: TenantAccess,
  ) {}

  async examine({
    tenantId,
    revisionId,
    spec,
  }: Pick<Workload, 'tenantId' | 'revisionId' | 'spec'>): Promise<ModelExamination> {
    const driver = this.catalog.find(spec.runtime.target)?.driver;
    const urls = endpointUrls(spec.endpoint);
    if (!driver?.models || urls.length === 0) return { issues: [] };
    const tenant = await this.database.tx('system', (tx) => tenantName(tx, tenantId));
    const user = { tenant_id: tenantId, tenant_name: tenant, revision_id: revisionId, spec };
    return combineExaminations(urls, await Promise.all(urls.map((_url, ordinal) => this.ask(driver, user, ordinal))));
  }

  async servers(tx: Tx, revisionId: string): Promise<AdoptedServer[]> {
    const rows = await tx
      .repository(InstanceEntity)
      .find({ where: { revision_id: revisionId, state: Not('stopped') }, order: { ordinal: 'ASC' } });
    return rows.filter(({ target }) => this.catalog.find(target)?.driver.adopts).map(serverOf);
  }

  private async ask(driver: TargetDriver, user: SpecOwner, ordinal: number): Promise<ModelExamination> {
    const { spec, tenant_name: tenantName } = user;
    try {
      await this.access.assertMayCall(driver.name, user, ordinal);
      const about = { id: 'check', generation: 1, tenantName, ordinal };
      const asked = toInstanceSpec(spec, about, this.access.secretsOf(user));
      return examineAnswer(spec.model.id, await driver.models!(asked));
    } catch (error) {
      // A secret is missing, or the tenant may no longer use the address. The reconciler reports this at the instance.
      return unknownModel(error instanceof Error ? error.message : String(error));
    }
  }
}

function serverOf({ id, base_url, state, reason, model_seen_at }: InstanceEntity): AdoptedServer {
  const isChanged = state === 'unhealthy' && reason === 'model_changed';
  const model = isChanged ? 'changed' : model_seen_at === null ? 'unseen' : 'seen';
  return { instanceId: id, baseUrl: base_url, model };
}

/** Combines the results of several servers: a problem of any server is a problem of all. */
function combineExaminations(urls: readonly string[], found: readonly ModelExamination[]): ModelExamination {
  if (found.length === 1) return found[0]!;
  const told = (text: string, ordinal: number) => `${urls[ordinal]?.slice(0, LONGEST_URL_SHOWN)}: ${text}`;
  const issues = found.flatMap((one, ordinal) =>
    one.issues.map((issue) => ({ ...issue, message: told(issue.message, ordinal) })),
  );
  const notes = found.flatMap(({ message }, ordinal) => (message === undefined ? [] : [told(message, ordinal)]));
  if (issues.length > 0) return { issues };
  const more = notes.length > MOST_NOTES ? `; and ${notes.length - MOST_NOTES} more` : '';
  return { issues, message: `${notes.slice(0, MOST_NOTES).join('; ')}${more}` };
}

export function examineAnswer(model: string, answer: ModelsAnswer): ModelExamination {
  if ('unknown' in answer) return unknownModel(answer.unknown);
  const told = checkModelList(model, answer.names);
  if ('unknown' in told) return unknownModel(told.unknown);
  if (told.has) return { issues: [], message: `the server has ${model}` };
  const message = `the server has no model of this name; it has: ${describeModels(answer.names)}`;
  return { issues: [{ field: 'model.id', code: 'unknown', message }] };
}

function unknownModel(why: string): ModelExamination {
  return { issues: [], message: `cannot determine whether the server has the model: ${why}` };
}
