import type { BodyOf } from '@slipway/sdk';
import { slipway } from '../../api/client.js';
import type { Access } from './access-action.js';

export const setAccess = (body: Access) => slipway.consoleAccess.set(body as BodyOf<'setConsoleAccess'>);
