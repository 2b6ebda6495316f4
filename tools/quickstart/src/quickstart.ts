import { runDemonstration } from './demonstration.js';

// `npm run quickstart`. `-- --once` ends after the job.
await runDemonstration({ isOnce: process.argv.includes('--once') });
