import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { specOf, WRITER, readTarget } from '../../test/target-fixture.js';
import { instanceIdOf, LABEL, unitAnnotations, unitLabels } from './unit-labels.js';
import {
  generationInName,
  generationOf,
  instanceLabelOf,
  labelValue,
  LONGEST_UNIT_NAME,
  revisionObjectName,
  unitName,
} from './unit-names.js';

const owner = (revisionName: string, ordinal = 0) => ({ ...specOf().owner!, revisionName, ordinal });
/** The API server's checks of the names of Services and of label values. */
const DNS_LABEL = /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/;
const LABEL_TEXT = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;

const anyText = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 200 }), fc.string({ maxLength: 200 }));
const anyId = fc.oneof(fc.uuid(), fc.stringMatching(/^[A-Za-z0-9_-]{1,128}$/));

describe('the name of a unit', () => {
  it('has revision, ordinal, instance and generation', () => {
    expect(unitName(specOf({ generation: 12, owner: owner('chat-00007', 3) }))).toBe('slw-chat-00007-3-6789abcd-g12');
    expect(unitName(specOf({ owner: owner(' Ünder_Löck!! ') }))).toBe('slw-nder-l-ck-0-6789abcd-g1');
    expect(unitName(specOf({ owner: owner('日本') }))).toBe('slw-r-0-6789abcd-g1');
  });

  it('is valid for any name of a revision, and contains its generation', () => {
    fc.assert(
      fc.property(
        anyText,
        anyId,
        fc.nat(9_999),
        fc.integer({ min: 1, max: 9_999_999 }),
        (name, id, ordinal, generation) => {
          const made = unitName({ instanceId: id, generation, owner: owner(name, ordinal) });
          expect(made).toMatch(DNS_LABEL);
          expect(made.length).toBeLessThanOrEqual(LONGEST_UNIT_NAME);
          expect(generationInName(made)).toBe(generation);
        },
      ),
    );
  });

  it('differs by instance, ordinal and generation', () => {
    const names = [
      specOf(),
      specOf({ instanceId: '0192f3a4-5b6c-7d8e-9f01-23456789abce' }),
      specOf({ instanceId: 'no-hex-at-the-end' }),
      specOf({ instanceId: 'no-hex-at-the-enD' }),
      specOf({ generation: 2 }),
      specOf({ owner: owner('chat-00007', 1) }),
    ].map(unitName);
    expect(new Set(names).size).toBe(names.length);
  });

  it('is an error if its numbers are too long, and is not cut', () => {
    expect(() => unitName(specOf({ generation: Number.MAX_SAFE_INTEGER, owner: owner('x', 1e20) }))).toThrow(
      RangeError,
    );
  });

  it.each([
    'slw-a-0-6789abcd-g0',
    'slw-a-0-6789abcd-g01',
    'slw-a-0-6789abcd',
    'x-a-0-6789abcd-g1',
    'slw-a-0-6789abcg-g1',
    '',
  ])('is not ours if it is "%s"', (name) => expect(generationInName(name)).toBeUndefined());

  it('overrides a label with another generation, and a pod has only the label', () => {
    const name = unitName(specOf({ generation: 3 }));
    const labels = { [LABEL.generation]: '7', [LABEL.instance]: 'i' };
    expect(generationOf({ metadata: { name, labels } })).toBe(3);
    expect(generationOf({ metadata: { name: `${name}-7d9f4c-g2456`, labels } })).toBe(7);
    expect(generationOf({ metadata: { name: 'stranger' } })).toBe(0);
    expect(generationOf({ metadata: { name: 'stranger', labels: { [LABEL.generation]: '-1' } } })).toBe(0);
    expect(instanceLabelOf({ metadata: { name, labels } })).toBe('i');
  });

  it('can be the name of a Service if it belongs to shared objects of a revision', () => {
    fc.assert(
      fc.property(anyText, (name) => expect(revisionObjectName(specOf({ owner: owner(name) }))).toMatch(DNS_LABEL)),
    );
    expect(revisionObjectName(specOf({ generation: 9, owner: owner('chat', 5) }))).toBe('slw-chat-0000deadbeef');
  });
});

describe('the value of a label', () => {
  it('is valid, is the text itself if possible, and differs for different texts', () => {
    fc.assert(
      fc.property(anyText, anyText, (one, other) => {
        expect(labelValue(one)).toMatch(LABEL_TEXT);
        if (one !== '' && LABEL_TEXT.test(one)) expect(labelValue(one)).toBe(one);
        if (one !== other) expect(labelValue(one)).not.toBe(labelValue(other));
      }),
    );
  });
});

describe('the labels of a unit', () => {
  const config = readTarget();

  it('name its owner', () => {
    expect(unitLabels(specOf({ generation: 4 }), config, WRITER)).toEqual({
      'app.kubernetes.io/managed-by': 'slipway',
      'app.kubernetes.io/name': 'vllm',
      'slipway.dev/installation': WRITER.installation,
      'slipway.dev/target': 'gpu',
      'slipway.dev/tenant': '0192f3a4-0000-7000-8000-000000000001',
      'slipway.dev/deployment': '0192f3a4-0000-7000-8000-000000000002',
      'slipway.dev/revision': '0192f3a4-0000-7000-8000-0000deadbeef',
      'slipway.dev/instance': '0192f3a4-5b6c-7d8e-9f01-23456789abcd',
      'slipway.dev/ordinal': '0',
      'slipway.dev/generation': '4',
    });
  });

  it('and its annotations contain the id of any instance, even one that cannot be a label', () => {
    fc.assert(
      fc.property(anyId, (instanceId) => {
        const labels = unitLabels(specOf({ instanceId }), config, WRITER);
        for (const value of Object.values(labels)) expect(value).toMatch(LABEL_TEXT);
        expect(instanceIdOf({ labels, annotations: unitAnnotations(instanceId) })).toBe(instanceId);
      }),
    );
  });

  it('belong to no instance if they contradict the annotations', () => {
    expect(
      instanceIdOf({ labels: { [LABEL.instance]: 'one' }, annotations: { 'slipway.dev/instance-id': 'two' } }),
    ).toBeUndefined();
    expect(instanceIdOf({})).toBeUndefined();
  });
});
