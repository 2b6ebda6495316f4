export * from './deployments.port.js';
export * from './revisions.port.js';
export * from './routes.port.js';
export * from './instances.port.js';
export * from './policies.port.js';
export * from './plans.port.js';
export * from './rollouts.port.js';
export * from './autopilot.port.js';
