import { OptimizationPolicies1700000000700 } from './migrations/1700000000700-optimization-policies.js';
import { StoredPolicies1700000000701 } from './migrations/1700000000701-stored-policies.js';

export { PoliciesModule } from './policies.module.js';
export const migrations = [OptimizationPolicies1700000000700, StoredPolicies1700000000701];
