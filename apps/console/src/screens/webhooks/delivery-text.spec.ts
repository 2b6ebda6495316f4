import { expect, it } from '@jest/globals';
import type { Delivery } from '../../api/items.js';
import { responseText } from './delivery-text.js';

it.each<[Pick<Delivery, 'attempts' | 'response_status' | 'error'>, string]>([
  [{ attempts: 0, response_status: null, error: null }, 'not sent yet'],
  [{ attempts: 1, response_status: 204, error: null }, '204'],
  [{ attempts: 1, response_status: 500, error: 'http_status' }, '500'],
  [{ attempts: 1, response_status: 302, error: 'redirect' }, '302: redirects are not followed'],
  [{ attempts: 1, response_status: null, error: 'timeout' }, 'no response in time'],
  [{ attempts: 1, response_status: null, error: 'of_a_later_api' }, 'of a later api'],
  [{ attempts: 1, response_status: null, error: null }, 'no response'],
])('formats %j as %j', (delivery, text) => expect(responseText(delivery as Delivery)).toBe(text));
