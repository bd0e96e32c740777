/** One operation on the page: what it is for, who may, what it takes, what it answers, and a command to try it. */

import { Chevron, Copyable } from '../../report/html/components.tsx';
import { curlsOf } from './curl.ts';
import {
  type Answer,
  type Field,
  fieldsOf,
  type JsonSchema,
  type Limit,
  limitsOf,
  type Operation,
  type Parameter,
  typeWords,
} from './operations.ts';

interface OperationCardProps {
  operation: Operation;
  baseUrl: string;
}

export function OperationCard({ operation, baseUrl }: OperationCardProps) {
  const { operationId, method, path, summary, description } = operation;
  return (
    <article id={operationId} class="operation card" aria-labelledby={`${operationId}-title`}>
      <header>
        <h3 id={`${operationId}-title`}>
          <WithCode text={summary} />
        </h3>
        <p class="address">
          <a href={`#${operationId}`}>
            <Method method={method} /> <code>{path}</code>
          </a>
        </p>
        <p class="small muted">
          <WithCode text={[whoMay(operation), description].filter(Boolean).join(' ')} />
        </p>
      </header>
      {(['path', 'query', 'header'] as const).map((place) => (
        <Parameters
          key={place}
          title={place === 'query' ? queryTitle(operation) : PLACES[place]}
          parameters={operation.parameters.filter((parameter) => parameter.in === place)}
        />
      ))}
      <Body operation={operation} />
      <section>
        <h4>Try it</h4>
        {curlsOf(operation, baseUrl).map((command) => (
          <div key={command} class="box command">
            <Copyable text={command} label={`the command for ${method} ${path}`} />
          </div>
        ))}
      </section>
      <Answers operation={operation} />
    </article>
  );
}

/** The method in its own tone; the word says it too. */
export function Method({ method }: { method: string }) {
  return <span class={`method ${method.toLowerCase()}`}>{method}</span>;
}

const PLACES = { path: 'In the path', query: 'In the query', header: 'In the header' };

/** What a JSON body says itself, another body leaves to the query. */
function queryTitle({ requestBody }: Operation): string {
  const types = Object.keys(requestBody?.content ?? {});
  const other = types.find((type) => type !== 'application/json');
  return types.length > 1 && other ? `${PLACES.query}, beside a body of ${other}` : PLACES.query;
}

function whoMay({ 'x-roles': roles }: Operation): string {
  if (!roles) return 'Anybody, without credentials.';
  if (roles.length === 1) return `Who may: the ${roles[0]} alone.`;
  return `Who may: ${roles.slice(0, -1).join(', ')} and ${roles.at(-1)}.`;
}

function Parameters({ title, parameters }: { title: string; parameters: Parameter[] }) {
  if (parameters.length === 0) return null;
  return (
    <section>
      <h4>{title}</h4>
      <ParameterList parameters={parameters} />
    </section>
  );
}

function Body({ operation: { requestBody } }: { operation: Operation }) {
  return Object.entries(requestBody?.content ?? {}).map(([type, { schema }]) => (
    <section key={type}>
      <h4>
        Body <code>{type}</code>
      </h4>
      {fieldsOf(schema).length > 0 ? (
        <FieldList schema={schema} direction="request" />
      ) : (
        <p class="small muted">The message itself, byte for byte.</p>
      )}
    </section>
  ));
}

function Answers({ operation: { responses } }: { operation: Operation }) {
  const all = Object.entries(responses);
  const errors = all.filter(([, answer]) => isProblem(answer));
  return (
    <section>
      <h4>Answers</h4>
      {all
        .filter(([, answer]) => !isProblem(answer))
        .map(([status, answer]) => (
          <Success key={status} status={status} answer={answer} />
        ))}
      <dl class="errors">
        {errors.map(([status, { description }]) => (
          <div key={status}>
            <dt>{status}</dt>
            <dd>
              <WithCode text={description} />
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

const isProblem = ({ content = {} }: Answer): boolean => 'application/problem+json' in content;

/** The fields are folded: some objects have a hundred. */
function Success({ status, answer }: { status: string; answer: Answer }) {
  const content = Object.entries(answer.content ?? {});
  const headers = Object.keys(answer.headers ?? {});
  return (
    <details class="answer">
      <summary>
        <Chevron />
        <strong>{status}</strong>
        <span>{answer.description}</span>
        <span class="muted small">{content.map(([type]) => type).join(', ')}</span>
      </summary>
      <div class="answered">
        {headers.length > 0 && (
          <p class="small muted">
            Header fields: <WithCode text={headers.map((name) => `\`${name}\``).join(', ')} />
          </p>
        )}
        {content.map(([type, { schema }]) =>
          fieldsOf(schema).length > 0 ? (
            <FieldList key={type} schema={schema} direction="answer" />
          ) : (
            <p key={type} class="small muted">
              <code>{type}</code>: {typeWords(schema)}
            </p>
          ),
        )}
      </div>
    </details>
  );
}

// Fields as a list that can be read: name, type, whether it must be there, limits, and the fields below.

/** Deeper than any schema of ours; one that named itself would end here. */
const MAX_DEPTH = 6;

/** In a request the fields that are needed are marked, in an answer those that may be absent. */
type Direction = 'request' | 'answer';

interface FieldListProps {
  schema: JsonSchema;
  direction: Direction;
  depth?: number;
}

function FieldList({ schema, direction, depth = 0 }: FieldListProps) {
  const fields = fieldsOf(schema);
  if (fields.length === 0 || depth > MAX_DEPTH) return null;
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

function ParameterList({ parameters }: { parameters: Parameter[] }) {
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
