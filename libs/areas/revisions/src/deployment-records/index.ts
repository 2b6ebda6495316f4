import { Deployments1700000000100 } from './migrations/1700000000100-deployments.js';
import { DeploymentSettings1700000000101 } from './migrations/1700000000101-deployment-settings.js';
import { DeploymentScaling1700000000102 } from './migrations/1700000000102-deployment-scaling.js';
import { DeploymentUpdatedBy1700000000103 } from './migrations/1700000000103-deployment-updated-by.js';
import { DeploymentDrain1700000000110 } from './migrations/1700000000110-deployment-drain.js';
import { DeploymentMediaUrls1700000000111 } from './migrations/1700000000111-deployment-media-urls.js';
import { StoredDeployments1700000000112 } from './migrations/1700000000112-stored-deployments.js';

export { DeploymentRecordsModule } from './deployment-records.module.js';

export const migrations = [
  Deployments1700000000100,
  DeploymentSettings1700000000101,
  DeploymentScaling1700000000102,
  DeploymentUpdatedBy1700000000103,
  DeploymentDrain1700000000110,
  DeploymentMediaUrls1700000000111,
  StoredDeployments1700000000112,
];
