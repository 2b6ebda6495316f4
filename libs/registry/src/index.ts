export { AREAS, COMMANDS, MIGRATIONS, TargetKindsModule, type Command } from './product.js';
