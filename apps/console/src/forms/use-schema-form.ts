import { isSlipwayError } from '@slipway/sdk';
import { useMemo, useState } from 'react';
import { draftAt, draftOf, patchOf, valueOf, withAt, type Draft } from './draft.js';
import { faultsOf, refusedFields, type Fault } from './faults.js';
import type { Layout } from './layout.js';
import { pathText, type Path, type RequestSchema, type Schema } from './schema.js';

/** The state of the last attempt to send it: a mutation of TanStack Query has this shape. */
export interface Attempt {
  error: Error | null;
  variables: unknown;
}

export interface SchemaFormState<Body> {
  request: RequestSchema;
  layout: Layout;
  /** The body to send. It is valid against the schema if `isComplete`. */
  body: Body;
  isComplete: boolean;
  at: (path: Path) => Draft;
  change: (path: Path, draft: Draft) => void;
  /** Returns the schema's fault in the current value of a field. */
  faultAt: (path: Path) => Fault | undefined;
  /** Returns the api's refusal of a field, as long as its value is the one that was sent. */
  refusalAt: (path: Path, attempt: Attempt) => string | undefined;
  /** The paths of all fields with a fault of the schema. */
  faulty: readonly string[];
  /** The paths of all fields that the api has refused. */
  refused: (attempt: Attempt) => readonly string[];
}

interface FormStart {
  /** The initial value of the form. */
  value?: unknown;
  /** Fields that the screen adds to the body. */
  fixed?: object;
  /** The body is a JSON merge patch: only what differs from the initial value, and null for what was emptied. */
  isPatch?: boolean;
}

/** The state of a form whose fields come from the schema of a request's body. */
export function useSchemaForm<Body>(
  request: RequestSchema,
  layout: Layout,
  { value, fixed, isPatch }: FormStart = {},
): SchemaFormState<Body> {
  const { schema } = request;
  const [began] = useState(() => draftOf(schema, value));
  const [draft, setDraft] = useState(began);
  const whole = () => ({ ...emptyLists(schema), ...(valueOf(schema, draft) as object | undefined) });
  const body = { ...(isPatch ? patchOf(schema, began, draft) : whole()), ...fixed };
  const text = JSON.stringify(body);
  const refusals = ({ error }: Attempt) =>
    isSlipwayError(error) ? refusedFields(schema, error.details, layout.aliases) : {};
  // The body is a new object each time; its text shows whether it has changed.
  const found = useMemo(() => faultsOf(request, JSON.parse(text)), [request, text]);
  // A user cannot fix the fields that the screen adds. An installation may accept more than the document,
  // such as the name of its identity provider.
  const faults = Object.fromEntries(Object.entries(found).filter(([path]) => !(fixed && path in fixed)));
  return {
    request,
    layout,
    body: body as Body,
    isComplete: Object.keys(faults).length === 0 && !(isPatch && Object.keys(body).length === 0),
    at: (path) => draftAt(draft, path),
    change: (path, changed) => setDraft((before) => withAt(before, path, changed)),
    faultAt: (path) => faults[pathText(path)],
    refusalAt: (path, attempt) => {
      const fault = refusals(attempt)[pathText(path)];
      return fault && isSame(memberAt(attempt.variables, path), memberAt(body, path)) ? fault.text : undefined;
    },
    faulty: Object.keys(faults),
    refused: (attempt) => Object.keys(refusals(attempt)),
  };
}

/** A required list may still be empty. */
function emptyLists({ properties = {}, required = [] }: Schema): Record<string, unknown[]> {
  const lists = required.filter((name) => properties[name]?.type === 'array');
  return Object.fromEntries(lists.map((name) => [name, []]));
}

const memberAt = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>((at, segment) => (at as Record<string | number, unknown> | undefined)?.[segment], value);

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);
