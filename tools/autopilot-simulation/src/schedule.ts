import { contextOf, schedule } from './cells.js';
import { optionsFrom } from './options.js';
import { PROFILE_NAMES, profilesOf } from './profiles.js';

// Prints one case of each profile as a line of JSON: one instance where two are needed, in the options of `main.ts`. A
// test sends its requests in real time, and compares what the autopilot says.
const options = optionsFrom(process.argv.slice(2), { profiles: PROFILE_NAMES, cells: [] });
for (const profile of profilesOf(options.profiles, options.engine)) {
  const { name, metric, constants } = profile;
  const found = schedule(contextOf(profile, options), options.run['first-seed'], 1, 2);
  process.stdout.write(`${JSON.stringify({ profile: name, metric, constants, ...found })}\n`);
}
