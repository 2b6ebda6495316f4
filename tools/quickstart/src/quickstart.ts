import { cannotStart } from '@slipway/platform-config';
import { readFlags, runDemonstration, type DemonstrationFlags } from './demonstration.js';

// `npm run quickstart`. `-- --once` ends after the job, `-- --with-plan` continues with a plan of the autopilot.
let flags: DemonstrationFlags;
try {
  flags = readFlags(process.argv.slice(2));
} catch (error) {
  cannotStart('', error);
}
await runDemonstration(flags);
