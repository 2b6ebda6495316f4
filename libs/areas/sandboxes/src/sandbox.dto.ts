import { ArrayField, IntField, MapField, ObjectField, StringField, TimestampField } from '@slipway/platform-http';

export const SANDBOX_PROVIDERS = ['local', 'e2b', 'daytona', 'custom'] as const;
export type SandboxProvider = (typeof SANDBOX_PROVIDERS)[number];

const labels = { values: 'string', maxEntries: 64, maxKeyLength: 63, maxValueLength: 255 } as const;

export class NewWorkspaceDto {
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

  @ObjectField(() => NewWorkspaceDto, { optional: true })
  workspace?: NewWorkspaceDto;

  @MapField({ ...labels, optional: true, example: { team: 'search' } })
  labels?: Record<string, string>;

  @TimestampField({
    optional: true,
    description: 'Time at which the sandbox and its files are deleted. Defaults to never.',
  })
  expires_at?: string;
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
    enum: ['running', 'paused', 'stopped', 'archived', 'error', 'unknown'],
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
}

export class SandboxListDto {
  @ArrayField(() => SandboxDto)
  data: SandboxDto[];

  @StringField({ nullable: true })
  next_cursor: string | null;
}
