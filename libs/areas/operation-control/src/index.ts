export { OperationControlModule } from './operation-control.module.js';
