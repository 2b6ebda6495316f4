import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { documentOf, objectOf, taking } from '../../test/documents.js';
import { check } from './check.js';
import { textOf, type OpenApi } from './document.js';

const TEXT = { type: 'string' };
const FIRST = taking(objectOf({ name: TEXT }));
const WIDER = taking(objectOf({ name: TEXT, size: TEXT }));
const NARROWER = taking(objectOf({ name: TEXT }, 'name'));
const TYPED = taking(objectOf({ name: { type: 'integer' } }, 'name'));
const NOTE = '# Changelog\n\n## [Unreleased]\n\n### Breaking\n- createThing: a name is required\n';
let root: string;

beforeEach(() => {
  root = mkdtempSync(path.join(os.tmpdir(), 'slipway-check-'));
  mkdirSync(path.join(root, 'libs/sdk'), { recursive: true });
  writeDocument(FIRST);
});
afterEach(() => rmSync(root, { recursive: true }));

const git = (...args: string[]): void => {
  const who = ['-c', 'user.name=a', '-c', 'user.email=a@example.com', '-c', 'commit.gpgsign=false'];
  execFileSync('git', [...who, ...args], { cwd: root, stdio: 'ignore' });
};
const write = (file: string, text: string): void => writeFileSync(path.join(root, file), text);

function writeDocument(document: OpenApi): void {
  write('libs/sdk/openapi.json', textOf(document));
}

function commit(): void {
  git('add', '.');
  git('commit', '-m', 'Change');
}

/** Creates main with the first document, and a branch of it. */
function branchOff(): void {
  git('init', '-b', 'main');
  commit();
  git('checkout', '-b', 'topic');
}

describe('on a branch', () => {
  beforeEach(branchOff);

  it('passes an addition, and prints it', () => {
    writeDocument(WIDER);
    commit();
    const { passed, lines } = check(root, WIDER);
    expect(lines.join('\n')).toMatch(
      /^Compared with main at \w{7}: 1 added, 0 changed, 0 broken\.\n {2}added {4}request body.size is new \(createThing\)$/,
    );
    expect(passed).toBe(true);
  });

  it('fails a break without a note, prints the note to write, and passes it with one', () => {
    writeDocument(NARROWER);
    const { passed, lines } = check(root, NARROWER);
    expect(passed).toBe(false);
    expect(lines).toContain('  broken   request body.name is required (createThing)');
    expect(lines.at(-1)).toMatch(/^- createThing: /);
    write('CHANGELOG.md', NOTE);
    expect(check(root, NARROWER).passed).toBe(true);
  });

  it('fails a document that the api no longer keeps, and says how to renew it', () => {
    writeDocument(NARROWER);
    write('CHANGELOG.md', NOTE);
    const { passed, lines } = check(root, TYPED);
    expect(passed).toBe(false);
    expect(lines.at(-1)).toMatch(/openapi\.json does not match the api\. Run `npm run openapi` to update it\./);
  });

  it('passes a document that lacks new parts, and says how to add them', () => {
    const { passed, lines } = check(root, WIDER);
    expect(passed).toBe(true);
    expect(lines.at(-1)).toMatch(
      /openapi\.json lacks new parts of the api \(1 added, 0 changed, 0 broken\)\. Run `npm run openapi` to update it\./,
    );
  });

  it('fails a document that was edited by hand', () => {
    write('libs/sdk/openapi.json', JSON.stringify(FIRST));
    expect(check(root, FIRST).passed).toBe(false);
  });

  it('ignores later commits on main', () => {
    write('README.md', 'text');
    commit();
    git('checkout', 'main');
    writeDocument(WIDER);
    commit();
    git('checkout', 'topic');
    expect(check(root, FIRST).lines[0]).toContain('0 broken');
  });
});

it('main is compared with the previous commit', () => {
  branchOff();
  git('checkout', 'main');
  writeDocument(WIDER);
  commit();
  expect(check(root, WIDER).lines[0]).toBe('Compared with the previous commit: 1 added, 0 changed, 0 broken.');
});

describe('says why it compares nothing', () => {
  it('without git', () => {
    expect(check(root, FIRST)).toEqual({
      passed: true,
      lines: ['Skipped the comparison with main: this folder is not a git repository with a commit.'],
    });
  });

  it('without main', () => {
    git('init', '-b', 'topic');
    commit();
    expect(check(root, FIRST).lines).toEqual([
      'Skipped the comparison with main: neither origin/main nor main exists.',
    ]);
  });

  it('without a document on main', () => {
    rmSync(path.join(root, 'libs/sdk/openapi.json'));
    write('README.md', '');
    branchOff();
    mkdirSync(path.join(root, 'libs/sdk'), { recursive: true });
    writeDocument(documentOf());
    commit();
    const [line] = check(root, documentOf()).lines;
    expect(line).toMatch(/^Skipped the comparison with main: main at \w{7} has no libs\/sdk\/openapi\.json\.$/);
  });
});
