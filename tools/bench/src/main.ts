import { cpus } from 'node:os';
import { BENCHMARKS, PEER_BENCHMARKS } from './benchmarks.js';
import { QuietWait } from './quiet.js';
import { Stand, type Size } from './stand.js';
import { formatReport, type BenchReport } from './finding.js';

const ALL = { ...BENCHMARKS, ...PEER_BENCHMARKS };
const USAGE = `usage: npm run bench -- [--quick | --smoke] [--peers] [--json] [--only NAME]...
names: ${Object.keys(BENCHMARKS).join(', ')}; with --peers also: ${Object.keys(PEER_BENCHMARKS).join(', ')}\n`;

/** Total time that a run waits for a quiet machine. */
const PATIENCE_MS: Record<Size, number> = { full: 300_000, quick: 20_000, smoke: 0 };

const say = (line: string): void => void process.stderr.write(`${line}\n`);
const options = readOptions(process.argv.slice(2));
const quiet = new QuietWait(PATIENCE_MS[options.size], say);
// A smoke run does not check: its result must not depend on other programs on the machine.
const found = (): Promise<boolean> => (options.size === 'smoke' ? Promise.resolve(false) : quiet.waitUntilQuiet());
const stand = await Stand.open(options.size);
let stopping: Promise<never> | undefined;
const stop = (): void =>
  void (stopping ??= stand.close().then(
    () => process.exit(130),
    () => process.exit(130),
  ));
process.once('SIGINT', stop).once('SIGTERM', stop);
const report: BenchReport = {
  quiet: true,
  machine: { processors: cpus().length, node: process.version, platform: `${process.platform} ${process.arch}` },
  size: options.size,
  findings: [],
};
let failures = 0;
for (const name of options.names) {
  const wasQuiet = await found();
  report.quiet &&= wasQuiet;
  const begin = performance.now();
  try {
    for (const finding of await ALL[name]!(stand)) report.findings.push({ ...finding, quiet: wasQuiet });
    say(`${name}: ${((performance.now() - begin) / 1_000).toFixed(0)} s`);
    await stand.clear();
  } catch (error) {
    // An interrupted part fails, and has to wait for Postgres to stop.
    if (stopping) await stopping;
    failures += 1;
    say(`${name}: ${error instanceof Error ? error.stack : String(error)}`);
    await stand.clear();
  }
}
await stand.close();
report.quiet &&= await found();
// The figures of a smoke run are not worth keeping.
if (options.size !== 'smoke')
  process.stdout.write(options.isJson ? `${JSON.stringify(report, null, 2)}\n` : formatReport(report));
process.exit(failures > 0 ? 1 : 0);

function readOptions(argv: string[]): { size: Size; isJson: boolean; names: string[] } {
  const asked: string[] = [];
  const read: { size: Size; isJson: boolean } = { size: 'full', isJson: false };
  let offered = BENCHMARKS;
  for (let i = 0; i < argv.length; i += 1) {
    const flag = argv[i];
    if (flag === '--quick') read.size = 'quick';
    else if (flag === '--smoke') read.size = 'smoke';
    else if (flag === '--json') read.isJson = true;
    else if (flag === '--peers') offered = ALL;
    else if (flag === '--only' && argv[i + 1]) asked.push(argv[(i += 1)] as string);
    else refuse();
  }
  if (asked.some((name) => !offered[name])) refuse();
  return { ...read, names: asked.length > 0 ? asked : Object.keys(offered) };
}

function refuse(): never {
  process.stderr.write(USAGE);
  process.exit(64);
}
