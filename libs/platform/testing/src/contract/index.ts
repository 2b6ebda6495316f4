export { activateNewest, activeDeployment, owned, type ActiveDeployment } from './active-deployment.js';
export { clientOf, expectStatus, type Answer, type ApiClient, type SendOptions } from './api-client.js';
export { Bed, SPEC, SPEC_WITH_ALL } from './bed.js';
export type { ContractRequest, Row, Rows } from './row.js';
