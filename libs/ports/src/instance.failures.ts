import { defineFailures } from '@slipway/contracts';

/** How an operation fails that needs instances. */
export const instanceFailures = defineFailures({
  capacity_exhausted: [
    'The target has no place for so many instances more',
    'Lower `min_replicas`, delete what is not needed, or have the operator give the target more room: `max_instances`, or nodes and quota of its cluster.',
  ],
  quota_exceeded: [
    'The tenant would have more instances than its quota allows',
    'Lower `min_replicas`, delete a deployment, or ask the operator for a higher quota.',
  ],
  target_not_ready: [
    'The instances were not ready by the deadline',
    'Read `message` and the log in the evidence of the step; mend the start, or give it longer with `progress_deadline_seconds`.',
  ],
});
