export { inBatches } from './in-batches.js';
export { Schedule, type RecurringWork, type Transact } from './schedule.js';
export { SchedulingModule } from './scheduling.module.js';
export { Wakeable } from './wakeable.js';
