export { ContextPassportModule } from './context-passport.module.js';
