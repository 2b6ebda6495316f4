import { describe, expect, it } from '@jest/globals';
import { argumentFault, argumentHelp, type EngineArgument } from './argument-help.js';

const arg = (changed: Partial<EngineArgument>): EngineArgument => ({ name: 'x', type: 'integer', ...changed });

describe('the help of an argument', () => {
  it.each<[Partial<EngineArgument>, string]>([
    [{ type: 'string' }, 'Text or number.'],
    [
      { min: 1, max: 2048, tune: [32, 64], reason: 'throughput versus time between tokens' },
      'Throughput versus time between tokens. Whole number from 1 to 2048. Worth trying: 32, 64.',
    ],
    [{ type: 'number', max: 0.97, default: 0.9 }, 'Number up to 0.97. Default: 0.9.'],
    [{ at_least: 'max_num_seqs', min: 256 }, 'Whole number from 256. At least the value of max_num_seqs.'],
    [
      { type: 'choice', choices: ['auto', 'fp8'], tune: ['fp8'], quality: true },
      'One of the choices. May change the quality of the responses.',
    ],
    [{ type: 'boolean', default: false }, 'True or false. Default: false.'],
  ])('of %j is complete', (changed, text) => expect(argumentHelp(arg(changed))).toBe(text));
});

describe('a typed value', () => {
  it.each<[Partial<EngineArgument>, string, string | undefined]>([
    [{ min: 1, max: 8 }, '', undefined],
    [{ min: 1, max: 8 }, '8', undefined],
    [{ min: 1, max: 8 }, '0', 'At least 1'],
    [{ min: 1, max: 8 }, '9', 'At most 8'],
    [{}, '1.5', 'Enter a whole number'],
    [{}, 'many', 'Enter a number'],
    [{}, ' ', 'Enter a number'],
    [{ type: 'number' }, '1.5', undefined],
    [{ type: 'string', max: 1 }, 'many', undefined],
    [{ type: 'json' }, '{"a": 1}', undefined],
    [{ type: 'json' }, '{', 'Enter valid JSON'],
    [{ type: 'json' }, '7', 'Enter a JSON object or list'],
  ])('of %j, %j: %s', (changed, text, fault) => expect(argumentFault(arg(changed), text)).toBe(fault));
});
