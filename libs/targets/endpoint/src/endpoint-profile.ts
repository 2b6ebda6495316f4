import type { EngineService, IdentityProof, UnknownModel } from '@slipway/contracts';
import {
  isMisspelling,
  keysOf,
  merged,
  partOf,
  readAs,
  type ConfigReader,
  type MappingSchema,
} from '@slipway/platform-config';
import {
  fillPlaceholders,
  HTTP_PATH,
  MODEL_FIELDS,
  modelValues,
  PROFILE_SCHEMAS,
  provableIdentity,
  type EngineTraits,
  type InstanceSpec,
} from '@slipway/target-driver';

/** How the servers of a target differ from a usual OpenAI-compatible server. */
export interface EndpointProfile {
  /** Their health path, unless a revision names another path than `/health`. */
  health?: string;
  serves?: EngineService[];
  unknown_model?: UnknownModel;
  identity?: IdentityProof[];
  /** Whether they reuse cached prefixes only for requests with the same `cache_salt`; false by default. */
  cache_salt?: boolean;
  /** Time limit of their first answer, which may load the model. */
  warm_up?: { timeout_seconds: number };
}

/** Profiles of known servers, by the name that `extends` uses. */
const BUILT_IN: Record<string, EndpointProfile> = {
  // Its / and /api/version answer whether a model is loaded or not.
  ollama: {
    health: '/api/version',
    serves: ['chat', 'completions', 'responses'],
    unknown_model: 'rejects',
    identity: ['models_list', 'response_model'],
    warm_up: { timeout_seconds: 300 },
  },
  llamacpp: {
    health: '/health',
    serves: ['chat', 'completions', 'responses'],
    unknown_model: 'ignores',
    identity: ['models_list', 'response_model'],
  },
  // One of its models is either for embeddings or for ranking. It has no /v1/models.
  tei: {
    health: '/health',
    serves: ['embeddings'],
    unknown_model: 'ignores',
    identity: ['response_model', { path: '/info', field: 'model_id', equals: '{model.uri}' }],
  },
  // It refuses an unknown model only while two or more are loaded.
  lmstudio: {
    health: '/v1/models',
    serves: ['chat', 'completions'],
    unknown_model: 'ignores',
    identity: ['models_list'],
    warm_up: { timeout_seconds: 300 },
  },
};

const VERSION = 1;
const NAMES = Object.keys(BUILT_IN).flatMap((name) => [name, `${name}@${VERSION}`]);
export const DEFAULT_HEALTH = '/health';
const DEFAULT_READY_SECONDS = 60;

export const PROFILE: MappingSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    extends: { enum: NAMES, description: 'A built-in profile. Keys that are set here override it; null removes a key' },
    health: { ...HTTP_PATH, description: 'Health path, if a revision does not name one' },
    ...PROFILE_SCHEMAS,
    warm_up: {
      type: 'object',
      additionalProperties: false,
      properties: {
        timeout_seconds: {
          type: 'integer',
          minimum: 1,
          maximum: 86_400,
          description: 'Time limit of the first response, which loads the model, in seconds',
        },
      },
      required: ['timeout_seconds'],
    },
  },
  description: 'Behaviour of its servers, if it differs from that of an OpenAI-compatible server',
};

/** The schema for editors: null removes a key of a built-in profile. */
export const PROFILE_ENTRY = { ...partOf(PROFILE), description: PROFILE['description'] };

/** Reads the profile of a target, and merges it into the profile that it extends. */
export function readProfile(reader: ConfigReader, path: string, value: unknown): EndpointProfile {
  const before = reader.problems.length;
  const { extends: name, ...written } = reader.map(path, value, keysOf(PROFILE));
  const base = name === undefined ? {} : builtIn(reader, `${path}.extends`, name);
  const known = Object.fromEntries(Object.entries(written).filter(([key]) => keysOf(PROFILE).includes(key)));
  const profile = readAs(reader, path, merged(base, known), PROFILE) as EndpointProfile;
  if (reader.problems.length > before) return {};
  for (const problem of identityProblems(profile)) reader.fail(`${path}.identity`, problem);
  return profile;
}

function builtIn(reader: ConfigReader, path: string, name: unknown): EndpointProfile {
  const profile = NAMES.includes(String(name)) ? BUILT_IN[String(name).split('@')[0]!] : undefined;
  if (profile) return profile;
  const meant = NAMES.find((one) => isMisspelling(String(name), one));
  const hint = meant === undefined ? '' : `; did you mean ${meant}?`;
  reader.fail(path, `must be a built-in profile, not ${String(name)}${hint} (known: ${NAMES.join(', ')})`);
  return {};
}

function identityProblems({ unknown_model: unknown = 'rejects', identity = [] }: EndpointProfile): string[] {
  const all = new Map(MODEL_FIELDS.map((field) => [`model.${field}`, '']));
  const problems = identity.flatMap((proof) =>
    typeof proof === 'string' || fillPlaceholders(proof.equals, all) !== undefined
      ? []
      : [
          `uses an unknown placeholder in ${proof.equals} (known: ${[...all.keys()].map((one) => `{${one}}`).join(' ')})`,
        ],
  );
  if (unknown !== 'rejects' && identity.length === 0)
    problems.push(
      `must state how a server proves which model it has, because unknown_model is ${unknown}; for example [models_list]`,
    );
  return problems;
}

export function profileTraits(profile: EndpointProfile, spec: Pick<InstanceSpec, 'model'>): EngineTraits {
  const { serves = ['chat'], unknown_model: unknownModel = 'rejects', identity = [] } = profile;
  const { cache_salt: hasCacheSalt = false, warm_up: warmUp } = profile;
  return {
    serves,
    unknownModel,
    identity: provableIdentity(identity, new Map(modelValues(spec))),
    hasCacheSalt,
    readyTimeoutSeconds: warmUp?.timeout_seconds ?? DEFAULT_READY_SECONDS,
    isKeyed: false,
    drain: 'gateway',
  };
}

/** The path of a server's health probes. */
export function healthPathOf({ health }: EndpointProfile, { probe, endpoint }: InstanceSpec): string {
  const named = endpoint?.healthPath ?? DEFAULT_HEALTH;
  return probe.path ?? (named === DEFAULT_HEALTH ? (health ?? named) : named);
}
