import { isSlipwayError } from '@slipway/sdk';
import { useMemo, useState } from 'react';
import { draftAt, draftOf, valueOf, withAt, type Draft } from './draft.js';
import { faultsOf, refusedFields, type Fault } from './faults.js';
import type { Layout } from './layout.js';
import { pathText, type Path, type RequestSchema, type Schema } from './schema.js';

/** What became of the last attempt to send it: a mutation of TanStack Query is one. */
export interface Attempt {
  error: Error | null;
  variables: unknown;
}

export interface SchemaFormState<Body> {
  request: RequestSchema;
  layout: Layout;
  /** What would be sent. It is a body that the schema takes where `isComplete`. */
  body: Body;
  isComplete: boolean;
  at: (path: Path) => Draft;
  change: (path: Path, draft: Draft) => void;
  /** What the schema has against a field as it stands. */
  faultAt: (path: Path) => Fault | undefined;
  /** What the api has against a field, as long as it stands there as it was sent. */
  refusalAt: (path: Path, attempt: Attempt) => string | undefined;
  /** The paths of all fields that the schema has something against. */
  faulty: readonly string[];
  /** Those that the api has something against. */
  refused: (attempt: Attempt) => readonly string[];
}

interface FormStart {
  /** The value that the form begins with. */
  value?: unknown;
  /** What the screen adds to the body. */
  fixed?: object;
}

/** The state of a form whose fields come from the schema of a request's body. */
export function useSchemaForm<Body>(
  request: RequestSchema,
  layout: Layout,
  { value, fixed }: FormStart = {},
): SchemaFormState<Body> {
  const { schema } = request;
  const [draft, setDraft] = useState(() => draftOf(schema, value));
  const body = { ...emptyLists(schema), ...(valueOf(schema, draft) as object | undefined), ...fixed };
  const text = JSON.stringify(body);
  const refusals = ({ error }: Attempt) =>
    isSlipwayError(error) ? refusedFields(schema, error.details, layout.aliases) : {};
  // The body is made anew each time; its text says whether it is another one.
  const found = useMemo(() => faultsOf(request, JSON.parse(text)), [request, text]);
  // What the screen adds nobody can mend, and an installation may know more of it than the document, such as the name of its identity provider.
  const faults = Object.fromEntries(Object.entries(found).filter(([path]) => !(fixed && path in fixed)));
  return {
    request,
    layout,
    body: body as Body,
    isComplete: Object.keys(faults).length === 0,
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

/** A list that must be there may still be empty. */
function emptyLists({ properties = {}, required = [] }: Schema): Record<string, unknown[]> {
  const lists = required.filter((name) => properties[name]?.type === 'array');
  return Object.fromEntries(lists.map((name) => [name, []]));
}

const memberAt = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>((at, segment) => (at as Record<string | number, unknown> | undefined)?.[segment], value);

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);
