export { logContext, withLogContext, type LogContext } from './log-context.js';
