import { Deployments1700000000100 } from './migrations/1700000000100-deployments.js';

export { DeploymentRecordsModule } from './deployment-records.module.js';

export const migrations = [Deployments1700000000100];
