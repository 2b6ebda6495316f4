import type { KeyObject } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import {
  boundPassports,
  declarePassport,
  deleteEndedPassport,
  deleteExpiredPassportsOf,
  findPassport,
  passportCountOf,
  passportCounts,
  passportId,
  passportKey,
  type PassportRow,
  revokePassport,
  sessionKeyHash,
} from '@slipway/dataplane';
import { CONFIG, type Config, type QuotaConfig, quotasOf } from '@slipway/platform-config';
import { Database, rowPage, type Tx } from '@slipway/platform-database';
import { appendAudit, Mutations } from '@slipway/platform-durable/mutations';
import { quotasOfTenant, reserveQuota } from '@slipway/platform-durable/quotas';
import { Recurring, type Transact } from '@slipway/platform-durable/scheduling';
import { pageOf, type PageOf, type PageRequest, type Principal, reply, type Reply } from '@slipway/platform-http';
import { DEPLOYMENTS, type DeploymentsPort } from '@slipway/ports/deployment-records';
import { PRODUCTS, type ProductsPort } from '@slipway/ports/model-api-administration';
import { type RouteAffinity, ROUTES, type RoutesPort } from '@slipway/ports/routing';
import { passportAnswer } from './passport-answer.js';
import type { CreatePassportDto, DeletedPassportDto, PassportDto, PassportFilterDto } from './passport.dto.js';
import { passportErrors } from './passport.errors.js';
import { LIST_PASSPORTS } from './passport.query.js';

const DEFAULT_AFFINITY: RouteAffinity = { mode: 'soft', ttlSeconds: 600 };
/** Most expired passports of a tenant that a round deletes, so that no deletion holds its connection for long. */
const DELETED_AT_ONCE = 20_000;

/** The destination under which the gateway counts a session: a deployment, or a published slug. */
interface SessionDestination {
  deploymentId: string;
  deploymentName: string;
  affinity: RouteAffinity;
}

@Injectable()
export class PassportsService {
  private readonly key: KeyObject;

  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'keyRing'> & QuotaConfig,
    private readonly database: Database,
    private readonly mutations: Mutations,
    @Inject(DEPLOYMENTS) private readonly deployments: DeploymentsPort,
    @Inject(ROUTES) private readonly routes: RoutesPort,
    @Inject(PRODUCTS) private readonly products: ProductsPort,
  ) {
    this.key = passportKey(config.keyRing);
  }

  /** Declaring the same session again renews its passport, and revives a revoked one. */
  async create(who: Principal, body: CreatePassportDto): Promise<Reply<PassportDto>> {
    const published = body.deployment.includes('/')
      ? await this.products.visibleTo(who.tenantId, body.deployment)
      : undefined;
    return this.mutations.run({ principal: who }, async (tx) => {
      const destination = published
        ? destinationOfSlug(published.slug)
        : await this.destinationOfDeployment(tx, who.tenantId, body.deployment);
      const { deploymentId, deploymentName, affinity } = destination;
      const id = passportId(this.key, who.tenantId, deploymentId, body.session_id);
      await this.reserveRecord(tx, who, id);
      const row = await declarePassport(tx, {
        id,
        tenantId: who.tenantId,
        deploymentId,
        deploymentName,
        keyHash: sessionKeyHash(this.key, who.tenantId, body.session_id),
        subject: body.subject ?? null,
        mode: body.affinity?.mode ?? affinity.mode,
        ttlSeconds: body.affinity?.ttl_seconds ?? affinity.ttlSeconds,
      });
      const answer = passportAnswer(row, this.key, await tx.now());
      await appendAudit(tx, {
        action: 'context_passport.create',
        resourceType: 'context_passport',
        resourceName: row.id,
        after: answer,
      });
      return reply(201, answer, { location: `/api/v1/context-passports/${row.id}` });
    });
  }

  async list(who: Principal, filter: PassportFilterDto, page: PageRequest): Promise<PageOf<PassportDto>> {
    const { deployment = null, state = null } = filter;
    const values = [who.tenantId, page.cursor?.[0] ?? null, deployment, state, page.limit];
    return this.database.tx({ tenantId: who.tenantId }, async (tx) => {
      const [found, now] = await Promise.all([tx.query<PassportRow>(LIST_PASSPORTS, values), tx.now()]);
      const { rows, hasMore } = rowPage(found);
      return pageOf({ rows: rows.map((row) => passportAnswer(row, this.key, now)), hasMore }, ({ id }) => [id]);
    });
  }

  async get(who: Principal, id: string): Promise<PassportDto> {
    return this.database.tx({ tenantId: who.tenantId }, async (tx) => {
      const row = await findPassport(tx, who.tenantId, id);
      if (!row) throw passportErrors.context_passport_not_found();
      return passportAnswer(row, this.key, await tx.now());
    });
  }

  /** The commit notifies the gateways: they forget the session's destination, and bind it no more. */
  async revoke(who: Principal, id: string): Promise<PassportDto> {
    return this.mutations.run({ principal: who }, async (tx) => {
      const before = await findPassport(tx, who.tenantId, id);
      if (!before) throw passportErrors.context_passport_not_found();
      const row = await revokePassport(tx, who.tenantId, id);
      if (!row) throw passportErrors.context_passport_not_found();
      const now = await tx.now();
      const answer = passportAnswer(row, this.key, now);
      // A repeated revocation returns the same answer and leaves no second row.
      if (before.revoked_at === null) {
        await appendAudit(tx, {
          action: 'context_passport.revoke',
          resourceType: 'context_passport',
          resourceName: id,
          before: passportAnswer(before, this.key, now),
          after: answer,
        });
      }
      return answer;
    });
  }

  /** Gateways would write the record of an active session again, so only an ended one is deleted. */
  async delete(who: Principal, id: string): Promise<DeletedPassportDto> {
    return this.mutations.run({ principal: who }, async (tx) => {
      const row = await deleteEndedPassport(tx, who.tenantId, id);
      if (!row) {
        const isKnown = (await findPassport(tx, who.tenantId, id)) !== undefined;
        throw isKnown ? passportErrors.context_passport_active() : passportErrors.context_passport_not_found();
      }
      await appendAudit(tx, {
        action: 'context_passport.delete',
        resourceType: 'context_passport',
        resourceName: id,
        before: passportAnswer(row, this.key, await tx.now()),
      });
      return { id, state: 'deleted' };
    });
  }

  /** A known session needs no further record. @throws quota_exceeded (429) */
  private async reserveRecord(tx: Tx, { tenantId, tenantName }: Principal, id: string): Promise<void> {
    if (await findPassport(tx, tenantId, id)) return;
    const limit = quotasOf(this.config, tenantName).context_passports;
    await reserveQuota(tx, { tenantId, quota: 'context_passports', limit }, () => passportCountOf(tx, tenantId));
  }

  private async destinationOfDeployment(tx: Tx, tenantId: string, name: string): Promise<SessionDestination> {
    const deployment = await this.deployments.get(tx, tenantId, name);
    const route = await this.routes.current(tx, deployment.id);
    return {
      deploymentId: deployment.id,
      deploymentName: deployment.name,
      affinity: route?.affinity ?? DEFAULT_AFFINITY,
    };
  }
}

function destinationOfSlug(slug: string): SessionDestination {
  return { deploymentId: `slug:${slug}`, deploymentName: slug, affinity: DEFAULT_AFFINITY };
}

/**
 * Announces to the gateways, through the tenants' counts, how many passports each tenant may have. Frees capacity if a
 * tenant has reached its quota: an expired passport is kept as a record for a week, unless it keeps live sessions out.
 */
@Injectable()
export class PassportBounds {
  constructor(@Inject(CONFIG) private readonly config: QuotaConfig) {}

  @Recurring({ name: 'context-passport-bounds', everySeconds: 10 })
  async run(transact: Transact): Promise<void> {
    const full = await transact('system', async (tx) => {
      const found: string[] = [];
      for (const { tenant_id, passports, max_passports } of await passportCounts(tx)) {
        const { context_passports: max } = await quotasOfTenant(tx, this.config, tenant_id);
        if (max !== max_passports) await boundPassports(tx, tenant_id, max);
        if (passports >= max) found.push(tenant_id);
      }
      return found;
    });
    for (const tenantId of full)
      await transact('system', (tx) => deleteExpiredPassportsOf(tx, tenantId, DELETED_AT_ONCE));
  }
}
