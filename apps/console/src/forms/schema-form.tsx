import { Plus, Trash2 } from 'lucide-react';
import { createContext, use, useState, type ReactNode } from 'react';
import { Button } from '../ui/button.js';
import { classes } from '../ui/classes.js';
import { Marked } from './marked.js';
import type { Draft } from './draft.js';
import { labelOf, moreIn, shownIn } from './layout.js';
import { SchemaField } from './schema-field.js';
import { kindOf, pathText, patternText, schemaAt, type Kind, type Path } from './schema.js';
import type { Attempt, SchemaFormState as Form } from './use-schema-form.js';

/** Draws a field or a whole group that no schema can describe: only the screen knows the possible values. */
export type Widget = (path: Path) => ReactNode;

interface SchemaFormProps {
  form: Form<unknown>;
  attempt: Attempt;
  /** By their paths. */
  widgets?: Readonly<Record<string, Widget>>;
}

const Shown = createContext<SchemaFormProps | null>(null);

/** The fields of a request: the common ones, and the others folded below them. */
export function SchemaForm(props: SchemaFormProps) {
  const { layout, request } = props.form;
  return (
    <Shown value={props}>
      {shownIn(layout, request.schema, []).map((path) => (
        <Field key={pathText(path)} path={path} />
      ))}
      <More paths={moreIn(layout, request.schema, [])} />
    </Shown>
  );
}

const useShown = () => use(Shown)!;

/** @param isApart it is not in its group, so that its label must name the group */
function Field({ path, isApart = false }: { path: Path; isApart?: boolean }) {
  const { form, attempt, widgets } = useShown();
  const { layout, request } = form;
  const widget = widgets?.[patternText(path)];
  if (widget) return widget(path);
  const kind = kindOf(schemaAt(request.schema, path)!);
  const label = labelAt(form, path, isApart);
  if (kind === 'group') return <Group path={path} label={label} />;
  if (kind === 'rows') return <Rows path={path} label={label} />;
  return (
    <SchemaField form={form} attempt={attempt} path={path} label={label} words={layout.words?.[patternText(path)]} />
  );
}

function labelAt({ layout }: Form<unknown>, path: Path, isApart = false): string {
  const own = layout.words?.[patternText(path)]?.label ?? labelOf(String(path.at(-1)));
  const parent = path.at(-2);
  return isApart && typeof parent === 'string' ? `${labelOf(parent)}: ${own}` : own;
}

/** Fields that need more than half of the width. */
const WIDE: readonly Kind[] = ['group', 'rows', 'json'];

function FormFields({ paths, isApart }: { paths: readonly Path[]; isApart?: boolean }) {
  const { form, widgets } = useShown();
  const isWide = (path: Path) =>
    WIDE.includes(kindOf(schemaAt(form.request.schema, path)!)) || widgets?.[patternText(path)] !== undefined;
  return (
    <div className="grid gap-3 sm:grid-cols-2">
      {paths.map((path) => (
        <div key={pathText(path)} className={classes('min-w-0', isWide(path) && 'sm:col-span-2')}>
          <Field path={path} isApart={isApart} />
        </div>
      ))}
    </div>
  );
}

function Group({ path, label }: { path: Path; label: string }) {
  const { form } = useShown();
  const { layout, request } = form;
  return (
    <fieldset className="space-y-2">
      <legend className="text-sm font-semibold">{label}</legend>
      <Described path={path} />
      <FormFields paths={shownIn(layout, request.schema, path)} />
    </fieldset>
  );
}

/** Shows the description and the fault of a group or a list. */
function Described({ path }: { path: Path }) {
  const { form, attempt } = useShown();
  const hint = form.layout.words?.[patternText(path)]?.hint ?? schemaAt(form.request.schema, path)?.description;
  const fault = form.refusalAt(path, attempt) ?? form.faultAt(path)?.text;
  return (
    <>
      {hint && (
        <p className="text-xs text-soft">
          <Marked text={hint} />
        </p>
      )}
      {fault && <p className="text-xs text-bad">{fault}</p>}
    </>
  );
}

function Rows({ path, label }: { path: Path; label: string }) {
  const { form } = useShown();
  const { layout, request } = form;
  const { maxItems = Infinity } = schemaAt(request.schema, path)!;
  const rows = (form.at(path) as readonly Draft[] | undefined) ?? [];
  return (
    <fieldset className="space-y-2">
      <legend className="text-sm font-semibold">{label}</legend>
      <Described path={path} />
      {rows.map((_, index) => {
        const row = [...path, index];
        return (
          <div
            key={index}
            role="group"
            aria-label={`${label} ${index + 1}`}
            className="flex items-start gap-2 border-l-2 border-line pl-2"
          >
            <div className="min-w-0 grow space-y-2">
              <FormFields paths={shownIn(layout, request.schema, row)} />
              <More paths={moreIn(layout, request.schema, row)} />
            </div>
            <Button
              kind="quiet"
              aria-label={`Remove ${label} ${index + 1}`}
              icon={<Trash2 aria-hidden className="size-4" />}
              onClick={() =>
                form.change(
                  path,
                  rows.filter((__, at) => at !== index),
                )
              }
            />
          </div>
        );
      })}
      <Button
        isSmall
        disabled={rows.length >= maxItems}
        icon={<Plus aria-hidden className="size-4" />}
        onClick={() => form.change(path, [...rows, {}])}
      >
        Add to {label}
      </Button>
    </fieldset>
  );
}

/** Shows rarely used fields. It opens by itself if one of them has a fault. */
function More({ paths }: { paths: readonly Path[] }) {
  const { form, attempt } = useShown();
  const [isOpen, setOpen] = useState(false);
  const starts = paths.map(pathText);
  const isFaulty = [...form.faulty, ...form.refused(attempt)].some((fault) =>
    starts.some((start) => fault.startsWith(start)),
  );
  if (paths.length === 0) return null;
  return (
    <details open={isOpen || isFaulty} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="cursor-pointer text-sm text-soft">More ({paths.length})</summary>
      {(isOpen || isFaulty) && (
        <div className="pt-2">
          <FormFields paths={paths} isApart />
        </div>
      )}
    </details>
  );
}
