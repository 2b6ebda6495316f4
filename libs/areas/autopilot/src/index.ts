import { AutopilotSchedules1700000000802 } from './migrations/1700000000802-autopilot-schedules.js';
import { AutopilotSubscription1700000000803 } from './migrations/1700000000803-autopilot-subscription.js';
import { AutopilotRoundDecision1700000000805 } from './migrations/1700000000805-autopilot-round-decision.js';
import { AutopilotExecutions1700000000808 } from './migrations/1700000000808-autopilot-executions.js';

export { AutopilotModule } from './autopilot.module.js';

export const migrations = [
  AutopilotSchedules1700000000802,
  AutopilotSubscription1700000000803,
  AutopilotRoundDecision1700000000805,
  AutopilotExecutions1700000000808,
];
