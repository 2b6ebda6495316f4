import { DeploymentEntity } from './deployment.entity.js';
import { Deployments1700000000100 } from './migrations/1700000000100-deployments.js';

export { DeploymentsModule } from './deployments.module.js';

export const entities = [DeploymentEntity];
export const migrations = [Deployments1700000000100];
