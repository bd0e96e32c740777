/** Fields as a list that can be read: name, type, whether it must be there, limits, and the fields below. */

import type { JsonSchema, Parameter } from './operations.ts';
import { type Field, fieldsOf, type Limit, limitsOf, typeWords } from './schema-words.ts';

/** Deeper than any schema of ours; one that named itself would end here. */
const DEEPEST = 6;

/** In a request the fields that are needed are marked, in an answer those that may be absent. */
type Direction = 'request' | 'answer';

interface FieldListProps {
  schema: JsonSchema;
  direction: Direction;
  depth?: number;
}

export function FieldList({ schema, direction, depth = 0 }: FieldListProps) {
  const fields = fieldsOf(schema);
  if (fields.length === 0 || depth > DEEPEST) return null;
  return (
    <ul class="fields">
      {fields.map((field) => (
        <li key={field.name}>
          <FieldLine {...field} mark={markOf(field, direction)} />
          <FieldList schema={field.schema} direction={direction} depth={depth + 1} />
        </li>
      ))}
    </ul>
  );
}

function markOf({ required }: Field, direction: Direction): string | null {
  if (direction === 'request') return required ? 'required' : null;
  return required ? null : 'may be absent';
}

export function ParameterList({ parameters }: { parameters: Parameter[] }) {
  return (
    <ul class="fields">
      {parameters.map(({ name, schema, required, description }) => (
        <li key={name}>
          <FieldLine
            name={name}
            schema={schema}
            mark={required ? 'required' : null}
            {...(description ? { description } : {})}
          />
        </li>
      ))}
    </ul>
  );
}

interface FieldLineProps {
  name: string;
  schema: JsonSchema;
  mark: string | null;
  description?: string;
}

function FieldLine({ name, schema, mark, description = schema.description }: FieldLineProps) {
  const limits = limitsOf(schema);
  return (
    <>
      <p class="field-line">
        <code class="name">{name}</code> <span class="muted">{typeWords(schema)}</span>{' '}
        {mark && <span class={mark === 'required' ? 'mark needed' : 'mark'}>{mark}</span>}
      </p>
      {limits.length > 0 && (
        <p class="limits muted">
          {limits.map((limit, i) => (
            <>
              {i > 0 && ' · '}
              <LimitWords {...limit} />
            </>
          ))}
        </p>
      )}
      {description && (
        <p class="limits muted">
          <WithCode text={description} />
        </p>
      )}
    </>
  );
}

function LimitWords({ words, codes = [] }: Limit) {
  return (
    <>
      {words}
      {codes.map((code, i) => (
        <>
          {i > 0 ? ', ' : ' '}
          <code>{code}</code>
        </>
      ))}
    </>
  );
}

/** Text in which `backticks` stand around what is to be read letter by letter. */
export function WithCode({ text }: { text: string }) {
  return <>{text.split('`').map((part, i) => (i % 2 ? <code>{part}</code> : part))}</>;
}
