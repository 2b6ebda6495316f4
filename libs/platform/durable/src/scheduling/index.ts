export {
  inBatches,
  Recurring,
  Schedule,
  type RecurringOptions,
  type RecurringWork,
  type Transact,
} from './schedule.js';
export { SchedulingModule } from './scheduling.module.js';
export { WakeableTask } from './wakeable-task.js';
