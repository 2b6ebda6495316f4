import { AutopilotPlans1700000000800 } from './migrations/1700000000800-autopilot-plans.js';
import { AutopilotDecisions1700000000801 } from './migrations/1700000000801-autopilot-decisions.js';
import { PlanOwners1700000000804 } from './migrations/1700000000804-plan-owners.js';
import { StoredPlans1700000000806 } from './migrations/1700000000806-stored-plans.js';
import { PlanOutcomes1700000000807 } from './migrations/1700000000807-plan-outcomes.js';

export { PlansModule } from './plans.module.js';

export const migrations = [
  AutopilotPlans1700000000800,
  AutopilotDecisions1700000000801,
  PlanOwners1700000000804,
  StoredPlans1700000000806,
  PlanOutcomes1700000000807,
];
