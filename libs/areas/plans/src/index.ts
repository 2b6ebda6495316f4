import { AutopilotPlans1700000000800 } from './migrations/1700000000800-autopilot-plans.js';
import { AutopilotDecisions1700000000801 } from './migrations/1700000000801-autopilot-decisions.js';

export { PlansModule } from './plans.module.js';

export const migrations = [AutopilotPlans1700000000800, AutopilotDecisions1700000000801];
