export { ModelApisModule } from './model-apis.module.js';
