export * from './deployments.port.js';
export * from './revisions.port.js';
export * from './routes.port.js';
export * from './instances.port.js';
