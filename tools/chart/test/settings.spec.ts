import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from '@jest/globals';
import { parseOperatorConfig } from '@slipway/platform-config';
import { TARGETS } from '@slipway/registry/targets';
import { kubernetesTarget } from '@slipway/target-kubernetes';
import { stringify } from 'yaml';
import { exampleValues, isBag, RAW, readYaml, ROOT } from '../src/chart.js';

const KINDS = [...TARGETS.filter(({ kind }) => kind !== kubernetesTarget.kind), kubernetesTarget];
const page = readFileSync(path.join(ROOT, 'docs/guides/kubernetes.md'), 'utf8');
const blocks = [...page.matchAll(/^```yaml\n((?:targets|secrets):[^`]*)^```$/gm)].map(([, text]) => text!);
const configs = [...exampleValues(), ['trial', path.join(RAW, 'trial-values.yaml')]].flatMap(([name, file]) => {
  const { config } = readYaml(file!);
  const hasTargets = isBag(config) && Array.isArray(config['targets']) && config['targets'].length > 0;
  return hasTargets ? [[`values of ${name}`, stringify(config)]] : [];
});

it('docs/guides/kubernetes.md shows a target and a secret', () => {
  expect(blocks.map((text) => text.split(':', 1)[0])).toEqual(['targets', 'secrets']);
});

it.each([...configs, ['docs/guides/kubernetes.md', blocks.join('')]] as [string, string][])(
  'the configuration reader of the product accepts the settings in %s',
  (_name, text) => {
    const { targets } = parseOperatorConfig(text, KINDS);
    expect(targets.map(({ kind }) => kind)).toEqual(['kubernetes']);
  },
);

it('the configuration reader of the product would report a wrong setting', () => {
  const wrong = blocks[0]!.replace('port: 8000', 'port: 80000');
  expect(() => parseOperatorConfig(wrong, KINDS)).toThrow('targets[0].engines.vllm.port');
});
