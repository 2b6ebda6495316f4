import { IntField, MapField, ObjectField, StringField } from '@slipway/platform-http';

const isScalar = (value: unknown) => ['string', 'number', 'boolean'].includes(typeof value);

export class ModelSpecDto {
  @StringField({
    min: 1,
    max: 255,
    description: 'The name the model server knows the model by',
    example: 'llama-3.1-8b',
  })
  id: string;

  @StringField({ min: 1, max: 2048, optional: true, description: 'Where the weights are, such as a path or hf://…' })
  uri?: string;

  @StringField({ min: 1, max: 255, optional: true })
  revision?: string;

  @StringField({ min: 1, max: 64, optional: true, example: 'gguf' })
  format?: string;

  @StringField({ min: 1, max: 64, optional: true, example: 'Q4_K_M' })
  quantization?: string;
}

export class RuntimeSpecDto {
  @StringField({
    min: 1,
    max: 63,
    description: "An execution target of the operator's configuration (GET /targets)",
    example: 'local',
  })
  target: string;

  @StringField({ min: 1, max: 63, optional: true, description: "One of the target's engines", example: 'sim' })
  engine?: string;

  @MapField({
    values: 'json',
    maxEntries: 64,
    maxKeyLength: 63,
    optional: true,
    example: { ttft_ms: 20 },
    description: 'Arguments the engine declares; text, number or true/false',
    check: (args) => (Object.values(args).every(isScalar) ? undefined : 'args must hold texts, numbers or booleans'),
  })
  args?: Record<string, string | number | boolean>;

  @MapField({
    values: 'json',
    maxEntries: 64,
    maxKeyLength: 127,
    optional: true,
    description: 'Environment the engine allows; a text or {"secret_ref": "name"}',
    check: (env) =>
      Object.values(env).every(isEnvValue) ? undefined : 'env must hold texts or {"secret_ref": "name"}',
  })
  env?: Record<string, string | { secret_ref: string }>;
}

function isEnvValue(value: unknown): boolean {
  if (typeof value === 'string') return true;
  return (
    typeof value === 'object' && value !== null && typeof (value as { secret_ref?: unknown }).secret_ref === 'string'
  );
}

export class EndpointSpecDto {
  @StringField({
    min: 1,
    max: 2048,
    description: 'An OpenAI-compatible server that already runs',
    example: 'http://127.0.0.1:8000',
  })
  base_url: string;

  @StringField({ enum: ['openai'], default: 'openai' })
  protocol: 'openai';

  @StringField({ min: 1, max: 1024, pattern: /^\//, default: '/health' })
  health_path: string;

  @StringField({
    min: 1,
    max: 63,
    optional: true,
    description: "A secret of the operator's configuration, sent as bearer token",
  })
  credential_ref?: string;
}

export class ResourcesSpecDto {
  @StringField({ min: 1, max: 63, optional: true, example: 'nvidia-l4' })
  accelerator?: string;

  @IntField({ min: 0, max: 1024, optional: true })
  count?: number;

  @IntField({ min: 0, max: 100_000_000, optional: true })
  memory_mb?: number;
}

export class ScalingSpecDto {
  @IntField({ min: 1, max: 1000, default: 1 })
  min_replicas: number;

  @IntField({ min: 1, max: 1000, optional: true })
  max_replicas?: number;

  static check(scaling: ScalingSpecDto) {
    if (scaling.max_replicas === undefined || scaling.max_replicas >= scaling.min_replicas) return [];
    return [{ field: 'max_replicas', code: 'min', message: 'max_replicas must not be below min_replicas' }];
  }
}

export class ProbesSpecDto {
  @StringField({ min: 1, max: 1024, pattern: /^\//, optional: true })
  path?: string;

  @IntField({ min: 1, max: 3600, optional: true })
  interval_seconds?: number;

  @IntField({ min: 1, max: 300, optional: true })
  timeout_seconds?: number;

  @IntField({ min: 1, max: 100, optional: true })
  failure_threshold?: number;
}

export class RevisionSpecDto {
  @ObjectField(() => ModelSpecDto)
  model: ModelSpecDto;

  @ObjectField(() => RuntimeSpecDto)
  runtime: RuntimeSpecDto;

  @ObjectField(() => EndpointSpecDto, { optional: true, description: 'For targets of kind `endpoint` only' })
  endpoint?: EndpointSpecDto;

  @ObjectField(() => ResourcesSpecDto, { optional: true })
  resources?: ResourcesSpecDto;

  @ObjectField(() => ScalingSpecDto, { optional: true })
  scaling?: ScalingSpecDto;

  @ObjectField(() => ProbesSpecDto, { optional: true })
  probes?: ProbesSpecDto;
}
