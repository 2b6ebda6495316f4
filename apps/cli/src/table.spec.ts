import { expect, it } from '@jest/globals';
import { tableLines, textOf, columnWidthOf, type Column } from './table.js';
import { painted } from './terminal.js';

const columns: Column[] = [
  { title: 'ID', of: 'id' },
  { title: 'STATE', of: 'status.state' },
  { title: 'MESSAGE', of: 'message', isText: true },
];
const id = `op_${'0'.repeat(32)}`;
const rows = [
  { id, status: { state: 'failed' }, message: 'the quick brown fox jumps over the lazy dog' },
  { id: 'b', status: null, message: '' },
];

it('cuts prose to the terminal, and never the values that people copy', () => {
  const lines = tableLines(rows, columns, { isList: true, most: 60 });
  expect(lines).toEqual(
    [
      `ID${' '.repeat(35)}STATE   MESSAGE`,
      `${id}  failed  the quick bro…`.replace('bro…', 'b…'),
      `b${' '.repeat(36)}-       -`,
    ].map((line, i) => (i === 1 ? expect.stringMatching(/^op_0{32} {2}failed {2}the quick.*…$/) : line)),
  );
  for (const line of lines) expect(columnWidthOf(line)).toBeLessThanOrEqual(60);
  const whole = tableLines(rows, columns, { isList: true });
  expect(whole[1]).toContain('lazy dog');
  expect(tableLines(rows, columns, { isList: true, most: 10 })[1]).toContain(id);
});

it('colours a state, and no text that only begins like one', () => {
  const lines = tableLines([{ id: 'failed-over', status: { state: 'failed' } }], columns, {
    isList: true,
    paint: painted,
  });
  expect(lines[1]).toBe(`failed-over  ${painted('failed', 'red')}  -`);
});

it('gives a terminal nothing that it would interpret as a command', () => {
  expect(textOf('a\u001b[2Jb\nc\u009b1m\u202e')).toBe('a [2Jb c 1m ');
  expect(textOf({ a: '\u001b' })).not.toContain('\u001b');
});

it('counts some letters as two cells, and some as none', () => {
  expect([columnWidthOf('abc'), columnWidthOf('模型'), columnWidthOf('e\u0301'), columnWidthOf('🚀')]).toEqual([
    3, 4, 1, 2,
  ]);
});

it('shows one item as a line for each field', () => {
  expect(tableLines([rows[1]], columns, { isList: false })).toEqual(['ID       b', 'STATE    -', 'MESSAGE  -']);
});
