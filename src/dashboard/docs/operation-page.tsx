/** The page of one operation, or of one event type: what it takes, what it returns, and a command that calls it. */

import { Chevron } from '../../ui/components.tsx';
import { curlsOf } from './curl.ts';
import {
  alternativesOf,
  describeType,
  type Field,
  fieldsOf,
  type JsonSchema,
  limitsOf,
  type Operation,
  type OperationResponse,
} from './operations.ts';
import { Command, Paragraph, Statuses, WithCode } from './topics.tsx';

export const DOCS_PATH = '/docs';

export const Method = ({ method }: { method: string }) => (
  <span class={`method ${method.toLowerCase()}`}>{method}</span>
);

const PARAMETER_TITLES = {
  path: 'Path parameters',
  query: 'Query parameters',
  header: 'Header parameters',
};

/** Without `baseUrl`, it is a request to a webhook endpoint, which has no command. */
export function OperationPage({ operation, baseUrl }: { operation: Operation; baseUrl?: string }) {
  const { operationId, method, path, summary, description = '', parameters } = operation;
  const isOurs = baseUrl !== undefined;
  return (
    <article class="operation">
      <p class="small">
        <a href={`${DOCS_PATH}#${operationId}`}>API reference</a>
      </p>
      <h1>
        <WithCode text={summary} />
      </h1>
      <p class="address">
        <Method method={method} /> <code>{path}</code>
      </p>
      <Paragraph text={`${isOurs ? accessText(operation) : ''} ${description}`.trim()} />
      {(['path', 'query', 'header'] as const).map((location) => {
        const fields = parameters.filter((parameter) => parameter.in === location);
        if (fields.length === 0) return null;
        return (
          <section key={location}>
            <h2>{PARAMETER_TITLES[location]}</h2>
            <Fields fields={fields} isResponse={false} depth={MAX_DEPTH} />
          </section>
        );
      })}
      {Object.entries(operation.requestBody?.content ?? {}).map(([type, { schema }]) => (
        <section key={type}>
          <h2>
            Request body <code>{type}</code>
          </h2>
          {type === 'application/json' ? (
            <Value schema={schema} isResponse={!isOurs} />
          ) : (
            <p class="small muted">The raw message, unchanged.</p>
          )}
        </section>
      ))}
      {isOurs && (
        <section>
          <h2>Example request</h2>
          {curlsOf(operation, baseUrl).map((command) => (
            <Command key={command} text={command} label={`the command for ${method} ${path}`} />
          ))}
        </section>
      )}
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
  const { brief = [], full = [] } = Object.groupBy(
    Object.entries(responses),
    ([, { content = {} }]) =>
      Object.keys(content).some((type) => type !== 'application/problem+json') ? 'full' : 'brief',
  );
  return (
    <section>
      <h2>Responses</h2>
      {full.map(([status, response]) => (
        <Response key={status} status={status} response={response} />
      ))}
      <Statuses entries={brief.map(([status, { description }]) => [status, description])} />
    </section>
  );
}

/** Collapsed, because some objects have a hundred fields. */
function Response({ status, response }: { status: string; response: OperationResponse }) {
  const { description, content = {}, headers = {} } = response;
  const names = Object.keys(headers).map((name) => `\`${name}\``);
  return (
    <details>
      <summary>
        <Chevron />
        <strong>{status}</strong>
        <span>{description}</span>
        <span class="muted small">{Object.keys(content).join(', ')}</span>
      </summary>
      {names.length > 0 && <Paragraph class="small muted" text={`Headers: ${names.join(', ')}`} />}
      {Object.entries(content).map(([type, { schema }]) => (
        <div key={type}>
          <p class="small muted">
            <code>{type}</code>: {describeType(schema)}
          </p>
          <Value schema={schema} isResponse />
          {schema.examples && <pre class="box">{JSON.stringify(schema.examples[0], null, 2)}</pre>}
        </div>
      ))}
    </details>
  );
}

/** No API schema nests deeper. */
const MAX_DEPTH = 6;

interface ValueProps {
  schema: JsonSchema;
  /** Requests mark required fields, responses mark optional ones. */
  isResponse: boolean;
  depth?: number;
}

/** The fields of a value, or those of each of its alternatives. Alternatives that are events link to their pages. */
function Value({ schema, isResponse, depth = 0 }: ValueProps) {
  return (
    <>
      <Fields fields={fieldsOf(schema)} isResponse={isResponse} depth={depth} />
      {alternativesOf(schema).map((each) => {
        const event = each.properties?.type?.const;
        return (
          <div key={each.title} class="alternative">
            {event === undefined ? (
              <>
                <p class="small">{each.title}</p>
                <Value schema={each} isResponse={isResponse} depth={depth} />
              </>
            ) : (
              <a class="small" href={`${DOCS_PATH}/${event}`}>
                {each.title}
              </a>
            )}
          </div>
        );
      })}
    </>
  );
}

export function Fields({
  fields,
  isResponse,
  depth = 0,
}: Omit<ValueProps, 'schema'> & { fields: Field[] }) {
  if (fields.length === 0 || depth > MAX_DEPTH) return null;
  return (
    <ul class="fields">
      {fields.map(({ name, schema, required, description = schema.description ?? '' }) => (
        <li key={name}>
          <p>
            <code class="name">{name}</code> <span class="muted">{describeType(schema)}</span>{' '}
            {required && !isResponse && <span class="required">required</span>}
            {!required && isResponse && <span class="muted">optional</span>}
          </p>
          {[limitsOf(schema).join(' · '), description].map(
            (text) => text && <Paragraph class="muted" text={text} />,
          )}
          <Value schema={schema} isResponse={isResponse} depth={depth + 1} />
        </li>
      ))}
    </ul>
  );
}
