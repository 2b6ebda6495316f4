import type { BuiltInEngine } from './built-in-engine.js';
import { llamacpp } from './llamacpp.js';
import { lmdeploy } from './lmdeploy.js';
import { sglang } from './sglang.js';
import { tei } from './tei.js';
import { tgi } from './tgi.js';
import { trtllm } from './trtllm.js';
import { vllm } from './vllm.js';

export { BUILT_IN_DEFAULTS, type BuiltInEngine } from './built-in-engine.js';

/** The newest version of each engine comes before older ones. */
const ENGINES: readonly BuiltInEngine[] = [vllm, sglang, llamacpp, tgi, tei, lmdeploy, trtllm];

const nameOf = ({ template }: BuiltInEngine): string => template.split('@')[0]!;

/** Finds a template by `<name>@<version>`, or the newest one by `<name>`. */
export function builtIn(name: string): BuiltInEngine | undefined {
  return ENGINES.find((one) => one.template === name || nameOf(one) === name);
}

/** The names that `extends` accepts. */
export function builtInNames(): string[] {
  return [...new Set(ENGINES.map(nameOf)), ...ENGINES.map(({ template }) => template)];
}

/** All built-in engines, the newest version of each before older ones. */
export function builtInEngines(): readonly BuiltInEngine[] {
  return ENGINES;
}
