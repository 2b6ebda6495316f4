import { readFile, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import path from 'node:path';
import type { WorkspaceCopy } from '@slipway/platform-testing/workspace-copy';
import type { Mutant } from './mutant-list.js';

const JEST = 'jest/bin/jest.js';
const TSC = 'typescript/bin/tsc';
/** Bundling the servers for each mutant would take longer than starting them without bundles. */
const SHIPPED = { SLIPWAY_TEST_SHIPPED: '1' };

/**
 * The result for a mutant: the tests that noticed it, or none. `broken` means that it does not compile, which no test
 * can claim.
 */
export interface Verdict {
  outcome: 'caught' | 'survived' | 'broken';
  by: string;
  seconds: number;
}

/** Tries mutants in one copy of the workspace, one after the other. */
export class Trial {
  constructor(private readonly copy: WorkspaceCopy) {}

  /** Checks that the specs pass without a mutant. Otherwise their failure under a mutant says nothing. */
  async passesUnchanged(mutant: Pick<Mutant, 'specs' | 'test'>): Promise<string | undefined> {
    const { code, output } = await this.test(mutant);
    return code === 0 ? undefined : output;
  }

  async verdictOn(mutant: Mutant): Promise<Verdict> {
    const started = Date.now();
    const file = path.join(this.copy.dir, mutant.file);
    const original = await readFile(file, 'utf8');
    const done = (outcome: Verdict['outcome'], by = ''): Verdict => ({
      outcome,
      by,
      seconds: (Date.now() - started) / 1_000,
    });
    try {
      // A function, because `$&` in a replacement string would insert the text that was found.
      await writeFile(
        file,
        original.replace(mutant.find, () => mutant.replace),
      );
      if (mutant.isBuilt && (await this.build()).code !== 0) return done('broken', 'it does not compile');
      const { code, output } = await this.test(mutant);
      if (code === 0) return done('survived');
      return done('caught', firstFailure(output));
    } finally {
      await writeFile(file, original);
      if (mutant.isBuilt) await this.build();
    }
  }

  private build(): ReturnType<WorkspaceCopy['attempt']> {
    return this.copy.attempt(TSC, [
      '-b',
      'apps/api',
      'apps/worker',
      'apps/gateway',
      'tools/inference-sim',
      'tools/quickstart',
    ]);
  }

  /** Runs each spec in its own project; the first failure is enough. */
  private async test({ specs, test }: Pick<Mutant, 'specs' | 'test'>): Promise<{ code: number; output: string }> {
    let output = '';
    for (const [project, files] of byProject(this.copy.dir, specs)) {
      const args = [
        '-c',
        `${project}/jest.config.mjs`,
        '--bail',
        '--forceExit',
        ...(test ? ['-t', test] : []),
        ...files,
      ];
      const ended = await this.copy.attempt(JEST, args, SHIPPED);
      output += ended.output;
      // `-t` that matches no test passes silently and would report every mutant as a survivor.
      const ran = /^Tests:.* (passed|failed)/m.test(ended.output);
      if (ended.code !== 0) return { code: ended.code, output };
      if (!ran) return { code: 1, output: `no test in ${files.join(', ')} was run${test ? ` for "${test}"` : ''}` };
    }
    return { code: 0, output };
  }
}

function byProject(root: string, specs: readonly string[]): Map<string, string[]> {
  const projects = new Map<string, string[]>();
  for (const spec of specs) {
    let folder = path.posix.dirname(spec);
    while (!existsSync(path.join(root, folder, 'jest.config.mjs'))) folder = path.posix.dirname(folder);
    projects.set(folder, [...(projects.get(folder) ?? []), spec]);
  }
  return projects;
}

function firstFailure(output: string): string {
  return /● (.+)/.exec(output)?.[1]?.trim() ?? output.trim().split('\n')[0] ?? '';
}
