import { isMap, isSeq, parseDocument, type YAMLError } from 'yaml';

/** What is written in the file, as a mapping, or one line for each mistake of its YAML. */
export function readMapping(source: string): { mapping: Record<string, unknown> } | { problems: string[] } {
  const document = parseDocument(source, { uniqueKeys: true });
  if (document.errors.length > 0) return { problems: document.errors.map((error) => told(error, source)) };
  if (!isMap(document.contents))
    return {
      problems: [`the file must be a mapping${isSeq(document.contents) ? ', not a list' : ''} with \`targets\``],
    };
  try {
    return { mapping: document.toJS() as Record<string, unknown> };
  } catch (error) {
    // Aliases of aliases that would fill the memory.
    return { problems: [`the file cannot be read: ${error instanceof Error ? error.message : String(error)}`] };
  }
}

function told({ code, message, linePos }: YAMLError, source: string): string {
  const [at] = linePos ?? [];
  if (!at) return message.split('\n')[0] ?? message;
  const line = source.split(/\r?\n/)[at.line - 1] ?? '';
  switch (code) {
    case 'TAB_AS_INDENT':
      return `line ${at.line} begins with a tab: indent with spaces`;
    case 'DUPLICATE_KEY':
      return `line ${at.line} has the key ${JSON.stringify(keyAt(line, at.col))} a second time: keep one of them`;
    default:
      return `line ${at.line}, column ${at.col}: ${(message.split('\n')[0] ?? message).replace(/ at line \d+, column \d+:?$/, '')}`;
  }
}

function keyAt(line: string, column: number): string {
  return /^[^:,{}[\]]*/.exec(line.slice(column - 1))?.[0].trim() ?? '';
}
