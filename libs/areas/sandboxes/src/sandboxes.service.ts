import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '@slipway/platform-config';
import { Database, newId, type Tx } from '@slipway/platform-database';
import {
  encodeCursor,
  errors,
  rawJson,
  reply,
  type ExistenceCheck,
  type PageRequest,
  type Principal,
  type RawJson,
  type Reply,
} from '@slipway/platform-http';
import { appendAudit } from '@slipway/platform-mutations';
import { FIND_REFERENCE, type ReferenceRow } from './reference.query.js';
import type { CreateSandboxDto, Provider } from './sandbox.dto.js';
import { sandboxErrors } from './sandbox.errors.js';
import { FIND_WORKSPACE, GET_SANDBOX, INSERT_SANDBOX, LIST_SANDBOXES, type AnswerRow } from './sandbox.query.js';

const GIBIBYTE = 2 ** 30;
const MAX_LIFE_MS = 100 * 365 * 86_400_000;

export interface NewSandbox {
  id: string;
  provider: Provider;
  referenceId: string | null;
  bytesLimit?: number;
  labels?: Record<string, string>;
  expiresAt?: string;
}

@Injectable()
export class SandboxesService implements ExistenceCheck {
  /** The most that a workspace may hold: room for ten of the largest files. */
  readonly maxWorkspaceBytes: number;

  constructor(
    @Inject(CONFIG) config: Pick<Config, 'upload'>,
    private readonly database: Database,
  ) {
    this.maxWorkspaceBytes = Math.max(GIBIBYTE, 10 * config.upload.maxBytes);
  }

  async create(who: Principal, dto: CreateSandboxDto): Promise<Reply> {
    return this.database.tx({ tenantId: who.tenantId }, async (tx) => {
      const reference =
        dto.reference_id === undefined
          ? undefined
          : await tx.one<ReferenceRow>(FIND_REFERENCE, [dto.reference_id, who.tenantId]);
      if (dto.reference_id !== undefined && !reference) throw sandboxErrors.sandbox_reference_not_found();
      this.assertSound(dto, reference);
      if (reference?.state === 'revoked') throw sandboxErrors.sandbox_reference_revoked();
      const row = await this.insert(tx, {
        id: newId('sbx'),
        provider: reference?.provider ?? 'local',
        referenceId: reference?.id ?? null,
        bytesLimit: dto.workspace?.bytes_limit,
        labels: dto.labels,
        // Postgres knows fewer offsets than RFC 3339 allows.
        expiresAt: dto.expires_at === undefined ? undefined : new Date(dto.expires_at).toISOString(),
      });
      await appendAudit(tx, {
        action: 'sandbox.create',
        resourceType: 'sandbox',
        resourceName: row.id,
        after: JSON.parse(row.json),
      });
      return reply(201, rawJson(row.json), { location: `/api/v1/sandboxes/${row.id}` });
    });
  }

  /** Writes the sandbox. The audit row is its caller's: one mutation leaves one, even if it makes more than the sandbox. */
  async insert(tx: Tx, sandbox: NewSandbox): Promise<AnswerRow> {
    const { id, provider, referenceId, bytesLimit = this.maxWorkspaceBytes, labels = {}, expiresAt = null } = sandbox;
    const row = await tx.one<AnswerRow>(INSERT_SANDBOX, [
      id,
      tx.tenant,
      provider,
      referenceId,
      bytesLimit,
      JSON.stringify(labels),
      expiresAt,
    ]);
    return row!;
  }

  async list(who: Principal, page: PageRequest): Promise<RawJson> {
    const rows = await this.database.read<AnswerRow>({ tenantId: who.tenantId }, LIST_SANDBOXES, [
      who.tenantId,
      page.cursor?.[0] ?? null,
      page.limit + 1,
    ]);
    return listOf(rows, page.limit, (row) => row.id);
  }

  async get(who: Principal, id: string): Promise<RawJson> {
    const [row] = await this.database.read<AnswerRow>({ tenantId: who.tenantId }, GET_SANDBOX, [id, who.tenantId]);
    if (!row) throw sandboxErrors.sandbox_not_found();
    return rawJson(row.json);
  }

  /** The 404 of an unknown sandbox wins over a body that breaks a rule. */
  async assertExists(tenantId: string, params: Record<string, string>): Promise<void> {
    const [row] = await this.database.read({ tenantId }, FIND_WORKSPACE, [params['id'], tenantId]);
    if (!row) throw sandboxErrors.sandbox_not_found();
  }

  private assertSound(dto: CreateSandboxDto, reference: ReferenceRow | undefined): void {
    const provider = reference?.provider ?? 'local';
    if (dto.provider !== undefined && dto.provider !== provider) {
      const rule = reference
        ? `must be ${provider}, as that of the reference`
        : 'needs a reference_id unless it is local';
      throw refusal(reference ? 'provider' : 'reference_id', reference ? 'enum' : 'required', `provider ${rule}`);
    }
    if ((dto.workspace?.bytes_limit ?? 0) > this.maxWorkspaceBytes) {
      throw refusal('workspace.bytes_limit', 'max', `workspace.bytes_limit must be at most ${this.maxWorkspaceBytes}`);
    }
    const life = dto.expires_at === undefined ? 1 : Date.parse(dto.expires_at) - Date.now();
    if (life <= 0) throw refusal('expires_at', 'min', 'expires_at must be in the future');
    if (life > MAX_LIFE_MS) throw refusal('expires_at', 'max', 'expires_at must be within 100 years');
  }
}

/** A page of rows whose JSON was made in SQL. */
export function listOf<T extends { json: string }>(rows: T[], limit: number, keyOf: (row: T) => string): RawJson {
  const shown = rows.slice(0, limit);
  const next = rows.length > limit ? encodeCursor([keyOf(shown[shown.length - 1]!)]) : null;
  return rawJson(`{"data":[${shown.map((row) => row.json).join(',')}],"next_cursor":${JSON.stringify(next)}}`);
}

function refusal(field: string, code: string, message: string): Error {
  return errors.validation_failed({ message, details: [{ field, code, message }] });
}
