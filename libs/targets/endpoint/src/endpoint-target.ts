import { operatorPatternProblem } from '@slipway/contracts';
import type { TargetConfig } from '@slipway/platform-config';
import type { TargetKind } from '@slipway/target-driver';
import { EndpointDriver, type EndpointTargetConfig } from './endpoint-driver.js';

/** `kind: endpoint` of the operator's file: OpenAI-compatible servers that already run, at the addresses in `allow`. */
export const endpointTarget: TargetKind = {
  kind: 'endpoint',
  keys: ['allow'],
  read(reader, path, entry): Pick<EndpointTargetConfig, 'allow'> {
    const allow = reader.list(`${path}.allow`, entry['allow']).map((one, index) => {
      const at = `${path}.allow[${index}]`;
      const pattern = reader.string(at, one);
      const problem = pattern === '' ? undefined : operatorPatternProblem(pattern);
      if (problem) reader.fail(at, problem);
      return pattern;
    });
    return { allow };
  },
  createDriver: (config: TargetConfig) => new EndpointDriver(config as EndpointTargetConfig),
};
