import { endpointUrls, MOST_ENDPOINT_URLS, READY_PROBES, serverUrls, type ReadyProbe } from '@slipway/contracts';
import { ArrayField, IntField, MapField, ObjectField, StringField } from '@slipway/platform-http';

const isScalar = (value: unknown) => ['string', 'number', 'boolean'].includes(typeof value);

export class ModelSpecDto {
  @StringField({ min: 1, max: 255, description: 'Name of the model at the model server', example: 'llama-3.1-8b' })
  id: string;

  @StringField({ min: 1, max: 2048, optional: true, description: 'Location of the weights, such as a path or hf://…' })
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
    description: 'Arguments that the engine declares; each a string, a number or a boolean',
    check: (args) =>
      Object.values(args).every(isScalar) ? undefined : 'args must contain only strings, numbers and booleans',
  })
  args?: Record<string, string | number | boolean>;

  @MapField({
    values: 'json',
    maxEntries: 64,
    maxKeyLength: 127,
    optional: true,
    description: 'Environment variables that the engine allows; each a string or {"secret_ref": "name"}',
    check: (env) =>
      Object.values(env).every(isEnvValue) ? undefined : 'env must contain only strings and {"secret_ref": "name"}',
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
    optional: true,
    description: 'URL of a running OpenAI-compatible server; set this, `base_urls` or both',
    example: 'http://127.0.0.1:8000',
  })
  base_url?: string;

  @ArrayField('string', {
    item: { min: 1, max: 2048 },
    minItems: 1,
    maxItems: MOST_ENDPOINT_URLS,
    optional: true,
    description: `Further servers with the same model; each is a separate instance. At most ${MOST_ENDPOINT_URLS} including \`base_url\``,
    example: ['http://127.0.0.1:8001', 'http://127.0.0.1:8002'],
  })
  base_urls?: string[];

  @StringField({ enum: ['openai'], default: 'openai' })
  protocol: 'openai';

  @StringField({
    min: 1,
    max: 1024,
    pattern: /^\/[\x21-\x22\x24-\x3e\x40-\x7e]*$/,
    optional: true,
    description:
      'Path of the API below the base URL. If omitted: the base URL itself if its path ends in a version, such as `/v1`, `/api/v3` or `/v1beta/openai`; else `/v1` below it',
    example: '/openai',
  })
  api_path?: string;

  @StringField({ min: 1, max: 1024, pattern: /^\//, default: '/health' })
  health_path: string;

  @StringField({
    min: 1,
    max: 63,
    optional: true,
    description: "A secret of the operator's configuration, sent as a bearer token",
  })
  credential_ref?: string;

  static check(endpoint: EndpointSpecDto) {
    const urls = endpointUrls(endpoint);
    if (urls.length === 0)
      return [{ field: 'base_url', code: 'required', message: 'base_url or base_urls is required' }];
    if (urls.length > MOST_ENDPOINT_URLS)
      return [
        { field: 'base_urls', code: 'max_items', message: `at most ${MOST_ENDPOINT_URLS} servers, including base_url` },
      ];
    const apis = urls.map((url) => serverUrls(url, endpoint.api_path).api);
    const twice = urls.find((_url, ordinal) => apis.indexOf(apis[ordinal]!) < ordinal);
    if (twice === undefined) return [];
    return [{ field: 'base_urls', code: 'unique', message: `base_urls lists a server twice: ${twice}` }];
  }
}

export class ResourcesSpecDto {
  @StringField({ min: 1, max: 63, optional: true, example: 'nvidia-l4' })
  accelerator?: string;

  @IntField({ min: 0, max: 1024, optional: true })
  count?: number;

  @IntField({ min: 0, max: 100_000_000, optional: true })
  memory_mb?: number;
}

const MIN_REPLICAS = {
  min: 0,
  max: 1000,
  description: 'Minimum number of instances; 0 = scale to zero when no requests arrive',
};
const MAX_REPLICAS = {
  min: 1,
  max: 1000,
  description: 'Maximum number of instances, if their number follows the load',
};
const TARGET_IN_FLIGHT = {
  min: 1,
  max: 10_000,
  description:
    'Intended number of requests in flight per instance. If omitted, the number of instances does not follow the load',
};
const SCALE_DOWN_AFTER_SECONDS = {
  min: 10,
  max: 86_400,
  description: 'Seconds that the load must stay low before one instance is removed; default 300',
};
const IDLE_SECONDS = {
  min: 10,
  max: 604_800,
  description: 'Seconds without requests before the last instance is removed; only with `min_replicas: 0`; default 600',
};

export class ScalingSpecDto {
  @IntField({ ...MIN_REPLICAS, default: 1 })
  min_replicas: number;

  @IntField({ ...MAX_REPLICAS, optional: true })
  max_replicas?: number;

  @IntField({ ...TARGET_IN_FLIGHT, optional: true })
  target_in_flight?: number;

  @IntField({ ...SCALE_DOWN_AFTER_SECONDS, optional: true })
  scale_down_after_seconds?: number;

  @IntField({ ...IDLE_SECONDS, optional: true })
  idle_seconds?: number;

  static check(scaling: ScalingSpecDto) {
    return contradictions(scaling);
  }
}

/** The scaling of a deployment. The revision decides every field that it leaves out. */
export class ScalingOverrideDto {
  @IntField({ ...MIN_REPLICAS, optional: true })
  min_replicas?: number;

  @IntField({ ...MAX_REPLICAS, optional: true })
  max_replicas?: number;

  @IntField({ ...TARGET_IN_FLIGHT, optional: true })
  target_in_flight?: number;

  @IntField({ ...SCALE_DOWN_AFTER_SECONDS, optional: true })
  scale_down_after_seconds?: number;

  @IntField({ ...IDLE_SECONDS, optional: true })
  idle_seconds?: number;

  static check(scaling: ScalingOverrideDto) {
    return contradictions(scaling);
  }
}

export class ScalingPatchDto {
  @IntField({ ...MIN_REPLICAS, removable: true })
  min_replicas?: number | null;

  @IntField({ ...MAX_REPLICAS, removable: true })
  max_replicas?: number | null;

  @IntField({ ...TARGET_IN_FLIGHT, removable: true })
  target_in_flight?: number | null;

  @IntField({ ...SCALE_DOWN_AFTER_SECONDS, removable: true })
  scale_down_after_seconds?: number | null;

  @IntField({ ...IDLE_SECONDS, removable: true })
  idle_seconds?: number | null;
}

/** Returns the contradictions within one scaling. */
function contradictions({ min_replicas: min, max_replicas: max, idle_seconds: idle }: ScalingOverrideDto) {
  const found: { field: string; code: string; message: string }[] = [];
  if (min !== undefined && max !== undefined && max < min)
    found.push({ field: 'max_replicas', code: 'min', message: 'max_replicas must not be below min_replicas' });
  if (idle !== undefined && min !== undefined && min > 0)
    found.push({
      field: 'idle_seconds',
      code: 'not_allowed',
      message: 'idle_seconds defines when the last instance is removed, so it requires min_replicas 0',
    });
  return found;
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

  @StringField({
    enum: READY_PROBES,
    optional: true,
    description:
      'How an instance becomes ready. `request` (default): it answers one small request with a result, once after each start or adoption. `list`: its health and its list of models are enough; its message says that it is not proven',
  })
  probe?: ReadyProbe;
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
