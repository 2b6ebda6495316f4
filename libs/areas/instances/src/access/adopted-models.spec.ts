import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { examineAnswer } from './adopted-models.js';

describe('the check of the models that an adopted server lists', () => {
  it('refuses a model that is not among them, and lists some', () => {
    const names = Array.from({ length: 12 }, (_, index) => `m-${index}`);
    expect(examineAnswer('tiny', { names })).toEqual({
      issues: [
        {
          field: 'model.id',
          code: 'unknown',
          message: `the server has no model of this name; it has: ${names.slice(0, 10).join(', ')} and 2 more`,
        },
      ],
    });
  });

  it.each([
    ['is listed', { names: ['large', 'tiny'] }, 'the server has tiny'],
    ['is listed by its tag', { names: ['tiny:latest'] }, 'the server has tiny'],
    ['may be among the models of a broker', { names: ['openai/*'] }, 'it lists patterns instead of models'],
    ['is not listed because the server lists none', { names: [] }, 'it lists no models'],
    ['cannot be checked', { unknown: 'GET /v1/models returned 404' }, 'GET /v1/models returned 404'],
  ])('accepts a model that %s, with a note', (_case, answer, note) => {
    expect(examineAnswer('tiny', answer)).toEqual({ issues: [], message: expect.stringContaining(note) });
  });

  it('shows names shortened, without characters that would break a text, a line or a database', () => {
    const odd = examineAnswer('tiny', {
      names: ['a\nb', '\u202egnp.exe', 'x\0', '\ud800', 'é ü 模型', 'l'.repeat(500)],
    });
    expect(odd.issues[0]?.message).toBe(
      `the server has no model of this name; it has: a?b, ?gnp.exe, x?, ?, é ü 模型, ${'l'.repeat(80)}…`,
    );
    const anything = fc.array(fc.string({ unit: 'binary', maxLength: 200 }), { maxLength: 40 });
    fc.assert(
      fc.property(anything, (names) => {
        const { issues, message } = examineAnswer('a name that no server has', { names });
        const text = message ?? issues[0]!.message;
        expect(text.length).toBeLessThan(1_000);
        expect(text).not.toMatch(/[\p{C}]/u);
      }),
    );
  });
});
