import { BENCHMARKS, type Finding } from './benchmarks.js';
import { Stand } from './stand.js';
import { table } from './table.js';

const USAGE = `usage: npm run bench -- [--quick] [--json] [--only NAME]...
names: ${Object.keys(BENCHMARKS).join(', ')}\n`;

const options = readOptions(process.argv.slice(2));
const stand = await Stand.open(options.isQuick);
const stop = (): void => void stand.close().finally(() => process.exit(130));
process.once('SIGINT', stop).once('SIGTERM', stop);
const findings: Finding[] = [];
let failures = 0;
for (const name of options.names) {
  process.stderr.write(`${name} …\n`);
  try {
    findings.push(...(await BENCHMARKS[name]!(stand)));
  } catch (error) {
    failures += 1;
    process.stderr.write(`${name}: ${error instanceof Error ? error.stack : String(error)}\n`);
  }
  await stand.clear();
}
process.stdout.write(options.isJson ? `${JSON.stringify(findings, null, 2)}\n` : table(findings));
await stand.close();
process.exit(failures > 0 ? 1 : 0);

function readOptions(argv: string[]): { isQuick: boolean; isJson: boolean; names: string[] } {
  const names: string[] = [];
  const read = { isQuick: false, isJson: false };
  for (let i = 0; i < argv.length; i += 1) {
    const flag = argv[i];
    if (flag === '--quick') read.isQuick = true;
    else if (flag === '--json') read.isJson = true;
    else if (flag === '--only' && BENCHMARKS[argv[i + 1] ?? '']) names.push(argv[(i += 1)] as string);
    else refuse();
  }
  return { ...read, names: names.length > 0 ? names : Object.keys(BENCHMARKS) };
}

function refuse(): never {
  process.stderr.write(USAGE);
  process.exit(64);
}
