import {
  ArrayField,
  BooleanField,
  IntField,
  MapField,
  ObjectField,
  StringField,
  TimestampField,
} from '@slipway/platform-http';

export const SANDBOX_PROVIDERS = ['local', 'e2b', 'daytona', 'custom'] as const;
export type SandboxProvider = (typeof SANDBOX_PROVIDERS)[number];

export const MAX_LABELS = 64;
const labels = { values: 'string', maxEntries: MAX_LABELS, maxKeyLength: 63, maxValueLength: 255 } as const;

export const SANDBOX_STATES = ['running', 'paused', 'stopped', 'archived', 'error', 'unknown'] as const;

export class WorkspaceRequestDto {
  @IntField({
    min: 1,
    optional: true,
    description:
      'Maximum size of all files together, in bytes. The service sets the highest value, which is also the default.',
  })
  bytes_limit?: number;
}

export class CreateSandboxDto {
  @StringField({
    enum: SANDBOX_PROVIDERS,
    optional: true,
    description: 'Defaults to the provider of the reference, or to local without a reference.',
  })
  provider?: SandboxProvider;

  @StringField({
    min: 1,
    max: 64,
    optional: true,
    description: 'Id of an active reference. The files of this sandbox are sent to its external sandbox.',
  })
  reference_id?: string;

  @ObjectField(() => WorkspaceRequestDto, { optional: true })
  workspace?: WorkspaceRequestDto;

  @MapField({ ...labels, optional: true, example: { team: 'search' } })
  labels?: Record<string, string>;

  @TimestampField({
    optional: true,
    description: 'Time at which the sandbox and its files are deleted. Defaults to never.',
  })
  expires_at?: string;
}

export class WorkspacePatchDto {
  @IntField({
    min: 1,
    removable: true,
    description: 'At least the bytes in use. `null` sets the highest value, which the service defines.',
  })
  bytes_limit?: number | null;
}

/** A merge patch of the settings of a sandbox. */
export class UpdateSandboxDto {
  @MapField({
    ...labels,
    maxEntries: 2 * MAX_LABELS,
    removable: true,
    removableValues: true,
    description: `Merged key by key; null removes a key. At most ${MAX_LABELS} labels after the merge.`,
    example: { team: 'search', trial: null },
  })
  labels?: Record<string, string | null> | null;

  @TimestampField({
    removable: true,
    description: 'Time at which the sandbox and its files are deleted. `null` means never.',
  })
  expires_at?: string | null;

  @ObjectField(() => WorkspacePatchDto, { removable: true })
  workspace?: WorkspacePatchDto | null;
}

export class WorkspaceDto {
  @IntField({ min: 0 })
  bytes_used: number;

  @IntField({ min: 1 })
  bytes_limit: number;

  @IntField({ min: 0 })
  file_count: number;
}

export class SandboxDto {
  @StringField()
  id: string;

  @StringField({ enum: SANDBOX_PROVIDERS })
  provider: string;

  @StringField({ nullable: true })
  reference_id: string | null;

  @StringField({
    enum: SANDBOX_STATES,
    description: 'Last observed state. An external sandbox is observed only when a file is sent to it.',
  })
  state: string;

  @TimestampField({ nullable: true, description: 'Time of the last observation; null if never observed.' })
  state_observed_at: string | null;

  @ObjectField(() => WorkspaceDto)
  workspace: WorkspaceDto;

  @MapField(labels)
  labels: Record<string, string>;

  @TimestampField()
  created_at: string;

  @TimestampField({ nullable: true })
  expires_at: string | null;

  @StringField({ description: 'Changes with everything above, also when a file is stored.' })
  etag: string;
}

export class DeletedSandboxDto {
  @StringField()
  id: string;

  @StringField({ enum: ['deleted'] })
  state: string;

  @BooleanField({ description: 'Always false: deleting sends nothing to an external sandbox.' })
  external_sandbox_changed: boolean;
}

export class SandboxListDto {
  @ArrayField(() => SandboxDto)
  data: SandboxDto[];

  @StringField({ nullable: true })
  next_cursor: string | null;
}

export class SandboxFilterDto {
  @StringField({ enum: SANDBOX_STATES, optional: true, description: 'Only sandboxes in this state' })
  state?: (typeof SANDBOX_STATES)[number];

  @StringField({ enum: SANDBOX_PROVIDERS, optional: true, description: 'Only sandboxes of this provider' })
  provider?: SandboxProvider;
}
