export { OperationsAreaModule } from './operations.module.js';
