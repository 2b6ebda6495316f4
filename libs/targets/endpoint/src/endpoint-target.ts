import { ALLOW, type TargetConfig } from '@slipway/platform-config';
import type { TargetKind } from '@slipway/target-driver';
import { EndpointDriver, type EndpointTargetConfig } from './endpoint-driver.js';
import { PROFILE_ENTRY, readProfile } from './endpoint-profile.js';

/** `kind: endpoint` of the operator's file: OpenAI-compatible servers that already run, at the addresses in `allow`. */
export const endpointTarget: TargetKind = {
  kind: 'endpoint',
  schema: {
    properties: {
      allow: {
        ...ALLOW,
        description: 'Addresses that its servers may have. Private addresses must be listed explicitly',
      },
      profile: PROFILE_ENTRY,
    },
    required: ['allow'],
  },
  read(reader, path, { allow, profile }): Omit<EndpointTargetConfig, keyof TargetConfig> & Pick<TargetConfig, 'allow'> {
    return {
      allow: reader.allow(`${path}.allow`, allow),
      ...(profile !== undefined && { profile: readProfile(reader, `${path}.profile`, profile) }),
    };
  },
  createDriver: (config: TargetConfig, { ownPorts }) =>
    new EndpointDriver(config as EndpointTargetConfig, { ownPorts }),
};
