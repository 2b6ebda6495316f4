import { describe, expect, it } from '@jest/globals';
import { agoOf, Table, tableLines, textOf, columnWidthOf, type Column } from './table.js';
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

describe('a terminal', () => {
  const at = new Date(Date.now() - 5 * 60_000 - 1_000).toISOString();
  const wide: Column[] = [
    { title: 'ID', of: 'id' },
    { title: 'STATE', of: 'state' },
    { title: 'UPDATED', of: 'at' },
    { title: 'ZONE', of: 'zone' },
    { title: 'MESSAGE', of: 'message', isText: true },
  ];
  const row = { id: 'ins_1', state: 'ready', at, zone: 'eu-west', message: 'it responds to its probe again' };

  it.each([200, 100, 70, 50, 40, 30, 20])('of %i columns is never too narrow for a table', (most) => {
    const table = new Table(wide, { most });
    const lines = table.lines([row, { ...row, id: 'ins_2', state: 'unhealthy' }]);
    for (const line of lines) expect(columnWidthOf(line)).toBeLessThanOrEqual(most);
    expect(lines[1]).toMatch(/^ins_1 /);
    // The columns that are not shown are named.
    for (const { title } of wide) expect(lines[0]!.includes(title) !== table.hidden.includes(title)).toBe(true);
  });

  it('leaves out empty columns first, and a text last', () => {
    const rows = [{ ...row, zone: null }];
    expect(new Table(wide, { most: 34 }).lines(rows)[0]).toBe('ID     STATE  UPDATED  MESSAGE');
    expect(new Table(wide, { most: 26 }).lines(rows)[0]).toBe('ID     STATE  MESSAGE');
  });

  it('shows a time with its age, and the age alone if it is narrow', () => {
    expect(new Table(wide, { most: 120 }).lines([row])[1]).toContain(`${at} (5m ago)`);
    const [, narrow] = new Table(wide, { most: 60 }).lines([row]);
    expect(narrow).toMatch(/ready {2}5m ago {3}eu-west/);
    expect(tableLines([row], wide, { isList: true })[1]).toContain(`${at} (5m ago)`);
    expect(tableLines([row], wide, { isList: false })[2]).toBe(`UPDATED  ${at} (5m ago)`);
  });

  it('gets the values of one item in lines that fit, and words and identifiers whole', () => {
    const next =
      'To continue: slipway rollouts resume chat; To restore the previous route: slipway rollouts abort chat';
    const columns: Column[] = [
      { title: 'NEXT', of: 'next' },
      { title: 'DIGEST', of: 'digest' },
      { title: 'SPEC', of: 'spec' },
    ];
    const item = { next, digest: 'f'.repeat(64), spec: { model: { id: 'llama' }, runtime: { target: 'local' } } };
    const lines = tableLines([item], columns, { isList: false, most: 60 });
    expect(lines).toEqual([
      'NEXT    To continue: slipway rollouts resume chat;',
      '        To restore the previous route: slipway rollouts',
      '        abort chat',
      `DIGEST  ${'f'.repeat(64)}`,
      'SPEC    {"model":{"id":"llama"},',
      '        "runtime":{"target":"local"}}',
    ]);
    expect(tableLines([item], columns, { isList: false })).toHaveLength(3);
  });
});

it('shows rows that come later under the same titles, in the same columns', () => {
  const columns: Column[] = [
    { title: 'NAME', of: 'name' },
    { title: 'STATE', of: 'state' },
    { title: 'ACTIVE', of: 'active' },
  ];
  const table = new Table(columns, {});
  const all = [
    ...table.lines([{ name: 'chat', state: 'progressing', active: 'chat-00001' }]),
    ...table.lines([{ name: 'chat', state: 'active', active: 'chat-00002' }]),
    ...table.lines([{ name: 'a', state: 'active', active: 'a-00001' }]),
  ];
  expect(all).toEqual([
    'NAME  STATE        ACTIVE',
    'chat  progressing  chat-00001',
    'chat  active       chat-00002',
    'a     active       a-00001',
  ]);
});

it.each([
  [-50, '50s ago'],
  [-59 * 60, '59m ago'],
  [-3 * 3_600, '3h ago'],
  [-49 * 3_600, '2d ago'],
  [90 * 86_400, 'in 90d'],
  [-400 * 86_400, '400d ago'],
  [800 * 86_400, 'in 2y'],
])('calls %i seconds from now %s', (seconds, text) => {
  const now = Date.parse('2026-01-01T00:00:00Z');
  expect(agoOf(new Date(now + 1_000 * seconds).toISOString(), now)).toBe(text);
});

it('shows a request that a text of the api names as a command', () => {
  expect(textOf('Resume it with POST /api/v1/operations/op_1/resume.')).toBe(
    'Resume it with slipway operations resume op_1.',
  );
});
