import {
  ArrayField,
  BooleanField,
  IntField,
  NumberField,
  ObjectField,
  StringField,
  TimestampField,
} from '@slipway/platform-http';
import type { CheckResult } from '@slipway/target-driver/qualification';

const DEPLOYMENT_NAME = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

const BINDING_STATES = ['unqualified', 'qualified', 'suspended', 'retired'] as const;

export class BindingTargetDto {
  @StringField({
    min: 1,
    max: 63,
    pattern: DEPLOYMENT_NAME,
    optional: true,
    description: 'Deployment of this tenant; requires `revision`.',
  })
  deployment?: string;

  @StringField({
    min: 1,
    max: 255,
    optional: true,
    description: 'Id, number or name of the revision; resolved once and pinned.',
  })
  revision?: string;

  @StringField({
    min: 1,
    max: 255,
    optional: true,
    description: 'Name of the supplier that runs the server; requires `base_url` and `model`. Shown to admins only.',
  })
  supplier?: string;

  @StringField({
    min: 1,
    max: 2048,
    format: 'uri',
    optional: true,
    example: 'https://models.inference.example.com/v1',
    description: 'OpenAI-compatible server that the operator allows as a supplier.',
  })
  base_url?: string;

  @StringField({ min: 1, max: 255, optional: true, description: 'Name of the model at the supplier.' })
  model?: string;

  @StringField({
    min: 1,
    max: 4096,
    pattern: /^[\x21-\x7e]+$/,
    format: 'password',
    optional: true,
    writeOnly: true,
    description: 'Bearer credential for the supplier; stored encrypted, never shown.',
  })
  credential?: string;
}

export class BindingLimitsDto {
  @NumberField({
    exclusiveMin: 0,
    max: 1_000_000,
    optional: true,
    nullable: true,
    description: 'Maximum requests per second for each gateway',
  })
  max_rps?: number | null;

  @IntField({
    min: 1,
    max: 1_000_000,
    optional: true,
    nullable: true,
    description: 'Maximum concurrent requests for each gateway',
  })
  max_concurrency?: number | null;

  @NumberField({
    exclusiveMin: 0,
    max: 1,
    optional: true,
    nullable: true,
    description:
      'Part of the other two limits that one tenant may use. Default: 0.5 if the publication has other tenants, else 1',
  })
  share_per_tenant?: number | null;
}

export class CreateBindingDto {
  @StringField({ min: 1, max: 255 })
  product_id: string;

  @ObjectField(() => BindingTargetDto, {
    description: 'Either `{deployment, revision}` or `{supplier, base_url, model, credential}`.',
  })
  target: BindingTargetDto;

  @ObjectField(() => BindingLimitsDto, { optional: true })
  limits?: BindingLimitsDto;
}

/** The pinned target; never contains a credential. */
export class BoundTargetDto {
  @StringField({ optional: true })
  deployment?: string;

  @StringField({ optional: true })
  deployment_id?: string;

  @StringField({ optional: true, description: 'Name of the pinned revision' })
  revision?: string;

  @StringField({ optional: true })
  revision_id?: string;

  @StringField({ optional: true })
  supplier?: string;

  @StringField({ optional: true })
  base_url?: string;

  @StringField({ optional: true })
  model?: string;
}

export class QualificationCheckDto {
  @StringField({ example: 'chat_completion' })
  name: string;

  @BooleanField()
  passed: boolean;

  @StringField({
    enum: ['passed', 'failed', 'not_applicable'],
    description:
      '`not_applicable`: the check does not apply to this engine, and `message` explains why. It counts neither as passed nor as failed',
  })
  result: CheckResult;

  @StringField({ description: 'Result in words; it quotes nothing from the target' })
  message: string;

  @NumberField({ nullable: true })
  duration_ms: number | null;
}

export class QualificationDto {
  @TimestampField({ nullable: true })
  checked_at: string | null;

  @ArrayField(() => QualificationCheckDto)
  checks: QualificationCheckDto[];

  @TimestampField({
    nullable: true,
    description: 'Time from which gateways no longer call an adopted server, because its model changed; otherwise null',
  })
  drifted_since: string | null;
}

export class BindingDto {
  @StringField({ example: 'bnd_0190f5c27bd87cc0a6b7d2f5e1a3c4d5' })
  id: string;

  @StringField()
  product_id: string;

  @ObjectField(() => BoundTargetDto)
  target: BoundTargetDto;

  @StringField({ description: 'SHA-256; equal for equal targets' })
  target_digest: string;

  @ObjectField(() => BindingLimitsDto)
  limits: BindingLimitsDto;

  @StringField({ enum: BINDING_STATES })
  state: string;

  @BooleanField({
    description:
      'Whether an adopted server of the revision now serves a different model. Gateways do not call it until it serves the right one again',
  })
  drifted: boolean;

  @ObjectField(() => QualificationDto)
  qualification: QualificationDto;

  @TimestampField()
  created_at: string;
}

export class DeletedBindingDto {
  @StringField()
  id: string;

  @StringField({ enum: ['deleted'] })
  state: string;
}

export class BindingPageDto {
  @ArrayField(() => BindingDto)
  data: BindingDto[];

  @StringField({ nullable: true })
  next_cursor: string | null;
}

export class BindingFilterDto {
  @StringField({ enum: BINDING_STATES, optional: true, description: 'Only bindings in this state' })
  state?: (typeof BINDING_STATES)[number];

  @StringField({ min: 1, max: 255, optional: true, description: 'Only bindings of the product with this id' })
  product_id?: string;
}
