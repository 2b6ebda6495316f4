import { isDeepStrictEqual } from 'node:util';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, quotasOf, type Config, type QuotaConfig } from '@slipway/platform-config';
import { Database, findPage, newestFirst, newId, type Tx } from '@slipway/platform-database';
import {
  assertPreconditions,
  errors,
  etagOf,
  inUtc,
  mergePatch,
  pageOf,
  reply,
  type ExistenceCheck,
  type PageOf,
  type PageRequest,
  type Preconditions,
  type Principal,
  type Reply,
} from '@slipway/platform-http';
import { appendAudit, Mutations } from '@slipway/platform-durable/mutations';
import { reserveQuota } from '@slipway/platform-durable/quotas';
import { ReferenceEntity } from './references/reference.entity.js';
import {
  MAX_LABELS,
  type CreateSandboxDto,
  type DeletedSandboxDto,
  type SandboxDto,
  type SandboxFilterDto,
  type SandboxProvider,
  type UpdateSandboxDto,
} from './sandbox.dto.js';
import { SandboxEntity } from './sandbox.entity.js';
import { sandboxErrors } from './sandbox.errors.js';
import { DELETE_SANDBOX, findSandbox, lockSandbox, SANDBOX_UNEXPIRED } from './sandbox.query.js';

const GIBIBYTE = 2 ** 30;
const MAX_LIFE_MS = 100 * 365 * 86_400_000;

export interface NewSandbox {
  id: string;
  provider: SandboxProvider;
  referenceId: string | null;
  bytesLimit?: number;
  labels?: Record<string, string>;
  expiresAt?: string;
}

@Injectable()
export class SandboxesService implements ExistenceCheck {
  /** Most bytes that a workspace may contain: ten of the largest files. */
  readonly maxWorkspaceBytes: number;

  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'upload'> & QuotaConfig,
    private readonly database: Database,
    private readonly mutations: Mutations,
  ) {
    this.maxWorkspaceBytes = Math.max(GIBIBYTE, 10 * config.upload.maxBytes);
  }

  async create(who: Principal, dto: CreateSandboxDto): Promise<Reply> {
    return this.mutations.run({ principal: who }, async (tx) => {
      const reference =
        dto.reference_id === undefined ? undefined : await this.reference(tx, who.tenantId, dto.reference_id);
      this.assertSound(dto, reference, await tx.now());
      if (reference?.state === 'revoked') throw sandboxErrors.sandbox_reference_revoked();
      const answer = await this.insert(tx, who, {
        id: newId('sbx'),
        provider: reference?.provider ?? 'local',
        referenceId: reference?.id ?? null,
        bytesLimit: dto.workspace?.bytes_limit,
        labels: dto.labels,
        expiresAt: dto.expires_at && inUtc(dto.expires_at),
      });
      await appendAudit(tx, {
        action: 'sandbox.create',
        resourceType: 'sandbox',
        resourceName: answer.id,
        after: answer,
      });
      return reply(201, answer, { etag: answer.etag, location: `/api/v1/sandboxes/${answer.id}` });
    });
  }

  /**
   * Writes the sandbox. The caller writes the audit row: one mutation leaves one, even if it creates more than the
   * sandbox.
   * @throws quota_exceeded (429)
   */
  async insert(tx: Tx, { tenantId, tenantName }: Principal, sandbox: NewSandbox): Promise<SandboxDto> {
    const { id, provider, referenceId, bytesLimit = this.maxWorkspaceBytes, labels = {}, expiresAt = null } = sandbox;
    const isLocal = provider === 'local';
    const sandboxes = tx.repository(SandboxEntity);
    // Expired sandboxes count until they are removed.
    await reserveQuota(tx, { tenantId, quota: 'sandboxes', limit: quotasOf(this.config, tenantName).sandboxes }, () =>
      sandboxes.countBy({ tenant_id: tenantId }),
    );
    await sandboxes.insert({
      id,
      tenant_id: tenantId,
      provider,
      reference_id: referenceId,
      // A local workspace exists as long as the service does, so it counts as running. The state of an external sandbox
      // is unknown at first.
      state: isLocal ? 'running' : 'unknown',
      state_observed_at: isLocal ? () => 'now()' : null,
      bytes_limit: bytesLimit,
      labels,
      expires_at: expiresAt,
    });
    return answerOf(await sandboxes.findOneByOrFail({ id, tenant_id: tenantId }));
  }

  async list(who: Principal, { state, provider }: SandboxFilterDto, page: PageRequest): Promise<PageOf<SandboxDto>> {
    const filter = { expires_at: SANDBOX_UNEXPIRED, ...(state && { state }), ...(provider && { provider }) };
    const { rows, hasMore } = await this.database.tx({ tenantId: who.tenantId }, (tx) =>
      findPage(tx, SandboxEntity, newestFirst(who.tenantId, page, filter)),
    );
    return pageOf({ rows: rows.map(answerOf), hasMore }, (row) => [row.id]);
  }

  async get(who: Principal, id: string): Promise<Reply<SandboxDto>> {
    const { tenantId } = who;
    const answer = answerOf(await this.database.tx({ tenantId }, (tx) => findSandbox(tx, tenantId, id)));
    return reply(200, answer, { etag: answer.etag });
  }

  /** A patch that changes nothing writes nothing. */
  update(who: Principal, id: string, patch: UpdateSandboxDto, conditions: Preconditions): Promise<Reply<SandboxDto>> {
    return this.mutations.run({ principal: who }, async (tx) => {
      const row = await lockSandbox(tx, who.tenantId, id);
      const before = answerOf(row);
      const settings = settingsOf(row);
      const changed = this.patched(row, patch, await tx.now());
      assertPreconditions(conditions, before.etag);
      if (isDeepStrictEqual(settings, changed)) return reply(200, before, { etag: before.etag });
      await tx.repository(SandboxEntity).update({ id, tenant_id: who.tenantId }, changed);
      const after = answerOf(await findSandbox(tx, who.tenantId, id));
      const resource = { resourceType: 'sandbox', resourceName: id };
      await appendAudit(tx, { action: 'sandbox.update', ...resource, before: settings, after: changed });
      return reply(200, after, { etag: after.etag });
    });
  }

  /**
   * Sends nothing to an external sandbox, whose reference stays. Pushes that wait find no file any more, and an upload
   * under way ends with 404.
   */
  delete(who: Principal, id: string, conditions: Preconditions): Promise<DeletedSandboxDto> {
    return this.mutations.run({ principal: who }, async (tx) => {
      const before = answerOf(await lockSandbox(tx, who.tenantId, id));
      assertPreconditions(conditions, before.etag);
      await tx.query(DELETE_SANDBOX, [id, who.tenantId]);
      await appendAudit(tx, { action: 'sandbox.delete', resourceType: 'sandbox', resourceName: id, before });
      return { id, state: 'deleted', external_sandbox_changed: false };
    });
  }

  /** The 404 of an unknown sandbox takes precedence over a body that breaks a rule. */
  async assertExists(tenantId: string, params: Record<string, string>): Promise<void> {
    await this.database.tx({ tenantId }, (tx) => findSandbox(tx, tenantId, params['id']!));
  }

  /** Returns the settings after a merge patch. @throws validation_failed (422) */
  private patched(row: SandboxEntity, patch: UpdateSandboxDto, now: Date): SandboxSettings {
    const settings = settingsOf(row);
    if (patch.labels !== undefined) settings.labels = (mergePatch(row.labels, patch.labels) ?? {}) as typeof row.labels;
    if (Object.keys(settings.labels).length > MAX_LABELS)
      throw refusal('labels', 'max_entries', `labels must have at most ${MAX_LABELS} entries`);
    if (patch.expires_at !== undefined) {
      assertLife(patch.expires_at ?? undefined, now);
      settings.expires_at = patch.expires_at && inUtc(patch.expires_at);
    }
    const limit = patch.workspace === null ? null : patch.workspace?.bytes_limit;
    if (limit === undefined) return settings;
    this.assertBytesLimit(limit ?? undefined);
    if (limit !== null && limit < row.bytes_used)
      throw refusal(
        'workspace.bytes_limit',
        'min',
        `workspace.bytes_limit must be at least ${row.bytes_used}, the bytes in use`,
      );
    return { ...settings, bytes_limit: limit ?? this.maxWorkspaceBytes };
  }

  private assertBytesLimit(limit = 0): void {
    if (limit <= this.maxWorkspaceBytes) return;
    const message = `workspace.bytes_limit must be at most ${this.maxWorkspaceBytes} bytes`;
    throw refusal('workspace.bytes_limit', 'max', message);
  }

  /** @throws sandbox_reference_not_found (404) */
  private async reference(tx: Tx, tenantId: string, id: string): Promise<ReferenceEntity> {
    const row = await tx.repository(ReferenceEntity).findOneBy({ id, tenant_id: tenantId });
    if (!row) throw sandboxErrors.sandbox_reference_not_found();
    return row;
  }

  private assertSound(dto: CreateSandboxDto, reference: ReferenceEntity | undefined, now: Date): void {
    const provider = reference?.provider ?? 'local';
    if (dto.provider !== undefined && dto.provider !== provider) {
      const rule = reference
        ? `must be ${provider}, the provider of the reference`
        : 'requires a reference_id unless it is local';
      throw refusal(reference ? 'provider' : 'reference_id', reference ? 'enum' : 'required', `provider ${rule}`);
    }
    this.assertBytesLimit(dto.workspace?.bytes_limit);
    assertLife(dto.expires_at, now);
  }
}

type SandboxSettings = Pick<SandboxEntity, 'labels' | 'expires_at' | 'bytes_limit'>;

function settingsOf({ labels, expires_at, bytes_limit }: SandboxEntity): SandboxSettings {
  return { labels, expires_at, bytes_limit };
}

function assertLife(expiresAt: string | undefined, now: Date): void {
  const life = expiresAt === undefined ? 1 : Date.parse(expiresAt) - now.getTime();
  if (life <= 0) throw refusal('expires_at', 'min', 'expires_at must be in the future');
  if (life > MAX_LIFE_MS) throw refusal('expires_at', 'max', 'expires_at must be within 100 years');
}

function answerOf(row: SandboxEntity): SandboxDto {
  const { id, provider, reference_id, state, state_observed_at, labels, created_at, expires_at } = row;
  const { bytes_used, bytes_limit, file_count } = row;
  const workspace = { bytes_used, bytes_limit, file_count };
  const shown = { id, provider, reference_id, state, state_observed_at, workspace, labels, created_at, expires_at };
  return { ...shown, etag: etagOf(JSON.stringify(shown)) };
}

function refusal(field: string, code: string, message: string): Error {
  return errors.validation_failed({ message, details: [{ field, code, message }] });
}
