import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from '../src/chart.js';

/** A block of commands of a page. */
export interface CommandBlock {
  /** The words after the language: a reason not to run it, or nothing. */
  info: string;
  text: string;
  /** The title of the section that has it. */
  section: string;
}

const HEADING = /^#{2,4} (.+)$/gm;
/** Blocks within a list are indented. */
const BLOCK = /^( *)```(?:sh|bash)([^\n]*)\n([\s\S]*?)^ *```$/gm;

/** The blocks of a page in their order. */
export function commandBlocks(page: string): CommandBlock[] {
  const markdown = readFileSync(path.join(ROOT, page), 'utf8');
  const headings = [...markdown.matchAll(HEADING)];
  return [...markdown.matchAll(BLOCK)].map((block) => {
    const [, indent = '', info = '', text = ''] = block;
    const [, section = ''] = headings.findLast(({ index }) => index < block.index) ?? [];
    const lines = text.split('\n').map((line) => line.slice(indent.length));
    return { info: info.trim(), text: lines.join('\n'), section };
  });
}
