import type { AnswerOf, BodyOf, OperationId } from '@slipway/sdk';
import type { ReactNode } from 'react';
import type { Layout } from '../forms/layout.js';
import type { RequestSchema } from '../forms/schema.js';
import type { Widget } from '../forms/schema-form.js';
import type { SchemaFormState } from '../forms/use-schema-form.js';
import type { CliWords } from './commands.js';

/** A value that the api shows only once. */
export interface Secret {
  title: string;
  /** Its name in the api. */
  name: string;
  /** Null if an answer to an earlier try of the same request had it. */
  value: string | null;
  /** Its purpose. */
  text: ReactNode;
}

interface ActionOn<Row, Body, Answer> {
  /** From `request:<operation>`. */
  request: RequestSchema;
  /** The word on the button that sends it, and on the one that opens its dialog if that has no own word. */
  verb: string;
  button?: string;
  /** Whether it is offered for a row; by default for all. */
  isFor?(row: Row): boolean;
  title(row: Row): string;
  description?: string;
  /** Its effect, in words. */
  effect?(row: Row, body: Body): ReactNode;
  isDangerous?: boolean;
  /** Whether it is dangerous with these fields, if that depends on them. */
  isDangerousWith?(row: Row, body: Body): boolean;
  /** The button that opens a dangerous action stays plain, because the action does nothing before its form is sent. */
  isOpenedPlainly?: boolean;
  /** The text to type first, for actions that cannot be undone, and for production. */
  nameToType?(row: Row): string | undefined;
  /** The fields of its form. Without them the dialog only asks. */
  layout?(row: Row): Layout;
  /** The initial value of the form. */
  value?(row: Row): unknown;
  /** Fields of the body that the form does not show. */
  fixed?(row: Row): object;
  /** The body is a JSON merge patch of `value`. */
  isPatch?: boolean;
  widgets?(form: SchemaFormState<Body>, row: Row): Readonly<Record<string, Widget>>;
  /** The parameters of the path; by default the `id` of the row. */
  ids?(row: Row): string[];
  /** The state that the action is based on: it fails if another person was faster. */
  etag?(row: Row): string | undefined;
  cli: CliWords;
  run(row: Row, body: Body, options: { ifMatch?: string }): Promise<Answer>;
  /** The message after success. */
  done?(answer: Answer, row: Row): string;
  onDone?(answer: Answer, row: Row): void;
  secret?(answer: Answer, row: Row): Secret;
}

/** An action on a row of a list; without a row it makes a new one. */
export type Action<Row = undefined> = ActionOn<Row, unknown, unknown>;

/** Declares the action that one operation of the api is. */
export const defineAction =
  <Id extends OperationId>() =>
  <Row = undefined>(
    action: ActionOn<Row, [BodyOf<Id>] extends [never] ? object : BodyOf<Id>, AnswerOf<Id>>,
  ): Action<Row> =>
    action;
