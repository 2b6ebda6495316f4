/**
 * The tables as TypeORM knows them, for processes that use it. The gateway does not use it and must not import this.
 */
export * from './gateway.entity.js';
export * from './passport.entity.js';
export * from './published.entity.js';
export * from './request-stats.entity.js';
export * from './request-usage.entity.js';
export * from './service-record.entity.js';
