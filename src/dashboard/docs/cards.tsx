/** The parts of the API reference: operations, event types, and objects with their fields. */

import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { Chevron } from '../../report/html/components.tsx';
import { curlsOf } from './curl.ts';
import {
  describeType,
  type EventType,
  type Field,
  fieldsOf,
  type JsonSchema,
  limitsOf,
  type NamedSchema,
  namesIn,
  type Operation,
  type OperationResponse,
} from './operations.ts';
import { eventId, objectId } from './places.ts';
import { Command, Paragraph, Statuses, WithCode } from './topics.tsx';

/** The link to an anchor of the reference, from the page that is rendered. */
export const LinkContext = createContext((anchor: string): string => `#${anchor}`);

export const Names = ({ names }: { names: [id: string, name: string][] }) => {
  const hrefOf = useContext(LinkContext);
  return (
    <ul class="links">
      {names.map(([id, name]) => (
        <li key={id}>
          <a href={hrefOf(id)}>
            <code>{name}</code>
          </a>
        </li>
      ))}
    </ul>
  );
};

export const Method = ({ method }: { method: string }) => (
  <span class={`method ${method.toLowerCase()}`}>{method}</span>
);

/** Omits the version that all paths share, to save space. */
export const OperationLinks = ({ operations }: { operations: Operation[] }) => (
  <ul class="links">
    {operations.map(({ operationId, method, path, summary }) => (
      <li key={operationId}>
        <a href={`#${operationId}`} title={summary.replaceAll('`', '')}>
          <Method method={method} /> <code>{path.replace(/^\/v1(?!\/status)/, '')}</code>
        </a>
      </li>
    ))}
  </ul>
);

/** The requests of all event types have the same header fields and responses. */
export function EventCards({ events }: { events: EventType[] }) {
  const [first] = events;
  return (
    <>
      {first && (
        <article class="operation card" aria-labelledby="webhook-requests-title">
          <h3 id="webhook-requests-title">Webhook requests</h3>
          <section>
            <h4>Header fields</h4>
            <Fields fields={first.headers} isResponse />
          </section>
          <section>
            <h4>Your response</h4>
            <Statuses
              entries={Object.entries(first.responses).map(([status, { description }]) => [
                status,
                description,
              ])}
            />
          </section>
        </article>
      )}
      {events.map(({ type, summary, description, schema }) => (
        <article
          key={type}
          id={eventId(type)}
          class="operation card"
          aria-labelledby={`${eventId(type)}-title`}
        >
          <h3 id={`${eventId(type)}-title`}>{summary}</h3>
          <p class="address">
            <a href={`#${eventId(type)}`}>
              <code>{type}</code>
            </a>
          </p>
          <Paragraph class="small muted" text={description} />
          <details>
            <summary>
              <Chevron />
              <strong>Event</strong>
            </summary>
            <Fields fields={fieldsOf(schema)} isResponse />
          </details>
        </article>
      ))}
    </>
  );
}

export function ObjectCard({ name, schema }: NamedSchema) {
  const id = objectId(name);
  const alternatives = schema.oneOf?.flatMap(({ title }) => title ?? []) ?? [];
  return (
    <article id={id} class="operation card" aria-labelledby={`${id}-title`}>
      <h3 id={`${id}-title`}>
        <a href={`#${id}`}>{name}</a>
      </h3>
      <Paragraph class="small muted" text={schema.description ?? ''} />
      {alternatives.length > 0 && (
        <Names names={alternatives.map((each) => [objectId(each), each])} />
      )}
      <Fields fields={fieldsOf(schema)} isResponse />
      {schema.examples && (
        <details>
          <summary>
            <Chevron />
            <strong>Example</strong>
          </summary>
          <pre class="box">{JSON.stringify(schema.examples[0], null, 2)}</pre>
        </details>
      )}
    </article>
  );
}

/** A type in words, with links to named schemas. */
function Type({ schema }: { schema: JsonSchema }) {
  const names = namesIn(schema);
  const text = describeType(schema);
  const hrefOf = useContext(LinkContext);
  if (names.length === 0) return <>{text}</>;
  return (
    <>
      {text
        .split(/\b/)
        .map((word) => (names.includes(word) ? <a href={hrefOf(objectId(word))}>{word}</a> : word))}
    </>
  );
}

const PARAMETER_TITLES = {
  path: 'Path parameters',
  query: 'Query parameters',
  header: 'Header parameters',
};

export function OperationCard({ operation, baseUrl }: { operation: Operation; baseUrl: string }) {
  const { operationId, method, path, summary, description = '', parameters } = operation;
  const bodies = Object.entries(operation.requestBody?.content ?? {});
  return (
    <article id={operationId} class="operation card" aria-labelledby={`${operationId}-title`}>
      <h3 id={`${operationId}-title`}>
        <WithCode text={summary} />
      </h3>
      <p class="address">
        <a href={`#${operationId}`}>
          <Method method={method} /> <code>{path}</code>
        </a>
      </p>
      <Paragraph class="small muted" text={`${accessText(operation)} ${description}`.trim()} />
      {(['path', 'query', 'header'] as const).map((location) => {
        const fields = parameters.filter((parameter) => parameter.in === location);
        if (fields.length === 0) return null;
        return (
          <section key={location}>
            <h4>{PARAMETER_TITLES[location]}</h4>
            <Fields fields={fields} isResponse={false} depth={MAX_DEPTH} />
          </section>
        );
      })}
      {bodies.map(([type, { schema }]) => (
        <section key={type}>
          <h4>
            Request body <code>{type}</code>
          </h4>
          {type === 'application/json' ? (
            <Fields fields={fieldsOf(schema)} isResponse={false} />
          ) : (
            <p class="small muted">The raw message, unchanged.</p>
          )}
        </section>
      ))}
      <section>
        <h4>Example request</h4>
        {curlsOf(operation, baseUrl).map((command) => (
          <Command key={command} text={command} label={`the command for ${method} ${path}`} />
        ))}
      </section>
      <Responses operation={operation} />
    </article>
  );
}

function accessText({ 'x-roles': roles }: Operation): string {
  if (!roles) return 'No authentication required.';
  if (roles.length === 1) return `Allowed role: ${roles[0]}.`;
  return `Allowed roles: ${roles.slice(0, -1).join(', ')} and ${roles.at(-1)}.`;
}

function Responses({ operation: { responses } }: { operation: Operation }) {
  const { error = [], success = [] } = Object.groupBy(
    Object.entries(responses),
    ([, { content }]) => (content && 'application/problem+json' in content ? 'error' : 'success'),
  );
  return (
    <section>
      <h4>Responses</h4>
      {success.map(([status, response]) => (
        <Success key={status} status={status} response={response} />
      ))}
      <Statuses entries={error.map(([status, { description }]) => [status, description])} />
    </section>
  );
}

/** Collapsed, because some objects have a hundred fields. */
function Success({ status, response }: { status: string; response: OperationResponse }) {
  const content = Object.entries(response.content ?? {});
  const headers = Object.keys(response.headers ?? {}).map((name) => `\`${name}\``);
  return (
    <details>
      <summary>
        <Chevron />
        <strong>{status}</strong>
        <span>{response.description}</span>
        <span class="muted small">{content.map(([type]) => type).join(', ')}</span>
      </summary>
      {headers.length > 0 && (
        <p class="small muted">
          Headers: <WithCode text={headers.join(', ')} />
        </p>
      )}
      {content.map(([type, { schema }]) =>
        fieldsOf(schema).length > 0 ? (
          <div key={type}>
            <p class="small">
              <Type schema={schema} />
            </p>
            <Fields fields={fieldsOf(schema)} isResponse />
          </div>
        ) : (
          <p key={type} class="small muted">
            <code>{type}</code>: {describeType(schema)}
          </p>
        ),
      )}
    </details>
  );
}

/** No API schema nests deeper. Stops the recursion in recursive schemas. */
const MAX_DEPTH = 6;

interface FieldsProps {
  fields: Field[];
  /** Requests mark required fields, responses mark optional ones. */
  isResponse: boolean;
  depth?: number;
}

function Fields({ fields, isResponse, depth = 0 }: FieldsProps) {
  if (fields.length === 0 || depth > MAX_DEPTH) return null;
  return (
    <ul class="fields">
      {fields.map(({ name, schema, required, description = schema.description ?? '' }) => (
        <li key={name}>
          <p>
            <code class="name">{name}</code>{' '}
            <span class="muted">
              {isResponse ? <Type schema={schema} /> : describeType(schema)}
            </span>{' '}
            {required && !isResponse && <span class="required">required</span>}
            {!required && isResponse && <span class="muted">optional</span>}
          </p>
          {[limitsOf(schema).join(' · '), description].map(
            (text) => text && <Paragraph class="muted" text={text} />,
          )}
          {!(isResponse && namesIn(schema).length > 0) && (
            <Fields fields={fieldsOf(schema)} isResponse={isResponse} depth={depth + 1} />
          )}
        </li>
      ))}
    </ul>
  );
}
