import { beforeEach, expect, it } from '@jest/globals';
import { ByteBudget, type HeldBytes } from './budgets.js';

let budget: ByteBudget;
beforeEach(() => {
  budget = new ByteBudget({ process: 100, tenant: 60, token: 40 }, (whose) => new Error(`of ${whose}`));
});

const open = (token: string, tenantId: string): HeldBytes => budget.open({ id: token, tenantId });

it('limits a token, a tenant and the process, and says which limit was reached', () => {
  open('tok_1', 'ten_1').take(40);
  expect(() => open('tok_1', 'ten_1').take(1)).toThrow('of this token');
  open('tok_2', 'ten_1').take(20);
  expect(() => open('tok_3', 'ten_1').take(1)).toThrow('of this tenant');
  open('tok_4', 'ten_2').take(40);
  expect(() => open('tok_5', 'ten_3').take(1)).toThrow('of all clients');
  expect(budget.held).toBe(100);
});

it('takes nothing when it refuses', () => {
  const first = open('tok_1', 'ten_1');
  expect(() => first.take(41)).toThrow('of this token');
  expect(budget.held).toBe(0);
  first.take(40);
});

it('gives back the bytes of one request only once', () => {
  const first = open('tok_1', 'ten_1');
  const second = open('tok_1', 'ten_1');
  first.take(10);
  first.take(15);
  second.take(15);
  first.give(5);
  expect(budget.held).toBe(35);
  first.release();
  first.release();
  expect(budget.held).toBe(15);
  open('tok_1', 'ten_1').take(25);
  second.release();
  expect(budget.held).toBe(25);
});
