import { readAs, type ConfigReader } from '@slipway/platform-config';
import { mapping, placeholderProblems } from '@slipway/target-driver';
import { DNS_LABEL } from './kubernetes-engine-schema.js';
import { pickerName } from '../manifests/revision-objects.js';
import type { InferencePoolConfig } from '../target-config.js';
import { LONGEST_REVISION_NAME } from '../manifests/unit-names.js';

/** `inference_pool` of a target: whether each revision has an InferencePool, for gateways that route by them. */
export const INFERENCE_POOL = {
  ...mapping(
    {
      endpoint_picker: {
        ...mapping(
          {
            name: {
              type: 'string',
              minLength: 1,
              description: 'Name of its Service. {pool} is replaced by the name of the pool',
            },
            port: { type: 'integer', minimum: 1, maximum: 65_535 },
            failure_mode: {
              enum: ['FailClose', 'FailOpen'],
              default: 'FailClose',
              description:
                'Behaviour of a gateway if the picker does not respond: it rejects the request (FailClose) or uses any pod (FailOpen)',
            },
          },
          ['name', 'port'],
        ),
        description: 'Service in the namespace of the pods that chooses the pod for each request of a gateway',
      },
    },
    ['endpoint_picker'],
  ),
  description:
    'An InferencePool for each revision, for gateways that route by InferencePools. Absent: no pools, and their types and rights are not required',
};

/** Reads the setting under its key. Returns an empty object if the file has none. */
export function readInferencePool(
  reader: ConfigReader,
  path: string,
  value: unknown,
): { inference_pool?: InferencePoolConfig } {
  if (value === undefined) return {};
  const { endpoint_picker: picker } = readAs(reader, path, value, INFERENCE_POOL) as InferencePoolConfig;
  const name = picker?.name;
  if (typeof name === 'string')
    for (const problem of nameProblems(name)) reader.fail(`${path}.endpoint_picker.name`, problem);
  return { inference_pool: { endpoint_picker: { ...picker, failure_mode: picker?.failure_mode ?? 'FailClose' } } };
}

function nameProblems(name: string): string[] {
  const unknown = placeholderProblems(name, new Set(['pool']));
  if (unknown.length > 0 || DNS_LABEL.test(pickerName(name, 'p'.repeat(LONGEST_REVISION_NAME)))) return unknown;
  return [
    `must be the name of a Service: lower-case letters, digits and "-", at most 63 characters if {pool} has ${LONGEST_REVISION_NAME}`,
  ];
}
