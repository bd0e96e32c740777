/** The API reference page. It shows the document of `/openapi.json` and loads no other resources. */

import type { App } from '../../app.ts';
import { type DeclaredApi, describeApi } from '../../health/describe-api.ts';
import { type Route, route } from '../../http/route.ts';
import { memoizePerObject } from '../../lib/memoize.ts';
import { Chevron } from '../../report/html/components.tsx';
import { PAGE_CSP, renderPage } from '../../report/html/frame.tsx';
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
  type Reference,
  readReference,
} from './operations.ts';
import { Command, Paragraph, type ServiceInfo, Statuses, TOPICS, WithCode } from './topics.tsx';

/** The API reference of these routes. The first request renders it. */
export function docsPage(api: DeclaredApi): Route {
  const htmlOf = memoizePerObject((app: App) => renderDocs(api, app));
  return route({
    method: 'GET',
    path: '/docs',
    operation: 'showDocs',
    role: 'public',
    summary: 'Show the API reference',
    produces: ['text/html'],
    handle({ app }) {
      return new Response(htmlOf(app), {
        headers: {
          'content-type': 'text/html; charset=utf-8',
          'content-security-policy': `${PAGE_CSP}; frame-ancestors 'none'`,
          'cache-control': 'no-cache',
        },
      });
    },
  });
}

function renderDocs(api: DeclaredApi, { config, version }: App): string {
  const reference = readReference(describeApi(api, config, version));
  const baseUrl = config.BASE_URL.replace(/\/$/, '');
  return renderPage({
    title: 'API reference · Deliverability',
    skip: 'Skip to content',
    style: STYLE,
    aside: <Contents reference={reference} />,
    main: <Main reference={reference} service={{ baseUrl, version, rate: config.RATE_LIMIT }} />,
  });
}

/** Beside the reference on wide screens. On narrow ones, above it and without individual operations. */
function Contents({ reference: { groups, events, objects } }: { reference: Reference }) {
  return (
    <nav class="contents" aria-labelledby="contents-title">
      <h2 id="contents-title">On this page</h2>
      <ul>
        {Object.entries(TOPICS).map(([id, [title]]) => (
          <li key={id}>
            <a href={`#${id}`}>{title}</a>
          </li>
        ))}
        {groups.map(({ id, title, operations }) => (
          <li key={id} class="parted">
            <a href={`#${id}`}>{title}</a>
            <Links operations={operations} />
          </li>
        ))}
        <li class="parted">
          <a href="#events">{EVENTS_TITLE}</a>
          <Names names={events.map(({ type }) => [eventId(type), type])} />
        </li>
        <li class="parted">
          <a href="#objects">{OBJECTS_TITLE}</a>
          <Names names={objects.map(({ name }) => [objectId(name), name])} />
        </li>
      </ul>
    </nav>
  );
}

const EVENTS_TITLE = 'Event types';
const OBJECTS_TITLE = 'Objects';
const eventId = (type: string): string => `event-${type}`;
const objectId = (name: string): string => `object-${name}`;

const Names = ({ names }: { names: [id: string, name: string][] }) => (
  <ul class="links">
    {names.map(([id, name]) => (
      <li key={id}>
        <a href={`#${id}`}>
          <code>{name}</code>
        </a>
      </li>
    ))}
  </ul>
);

/** Omits the version that all paths share, to save space. */
const Links = ({ operations }: { operations: Operation[] }) => (
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

const Method = ({ method }: { method: string }) => (
  <span class={`method ${method.toLowerCase()}`}>{method}</span>
);

function Main({ reference, service }: { reference: Reference; service: ServiceInfo }) {
  const { groups, events, objects } = reference;
  return (
    <>
      <h1>API reference</h1>
      <p class="lead">
        The API tests how mailbox providers treat your mail. Create a test, send your message to its
        test address, and get a report with your score, what lowered it, and how to improve it. This
        reference is also available as an OpenAPI document at{' '}
        <a href="/openapi.json">/openapi.json</a>.
      </p>
      <p class="lead small muted">Version {service.version}</p>
      {Object.entries(TOPICS).map(([id, [title, blocks]]) => (
        <section key={id} id={id} class="topic" aria-labelledby={`${id}-title`}>
          <h2 id={`${id}-title`}>{title}</h2>
          {blocks(service).map((block) =>
            typeof block === 'string' ? <Paragraph text={block} /> : block,
          )}
        </section>
      ))}
      {groups.map(({ id, title, description, operations }) => (
        <section key={id} id={id} class="group" aria-labelledby={`${id}-title`}>
          <h2 id={`${id}-title`}>{title}</h2>
          <p class="small muted">{description}</p>
          <Links operations={operations} />
          {operations.map((operation) => (
            <OperationCard
              key={operation.operationId}
              operation={operation}
              baseUrl={service.baseUrl}
            />
          ))}
        </section>
      ))}
      <Events events={events} />
      <section id="objects" class="group" aria-labelledby="objects-title">
        <h2 id="objects-title">{OBJECTS_TITLE}</h2>
        <p class="small muted">The objects that responses and events contain.</p>
        {objects.map((object) => (
          <ObjectCard key={object.name} {...object} />
        ))}
      </section>
    </>
  );
}

/** The requests of all event types have the same header fields and responses. */
function Events({ events }: { events: EventType[] }) {
  const [first] = events;
  return (
    <section id="events" class="group" aria-labelledby="events-title">
      <h2 id="events-title">{EVENTS_TITLE}</h2>
      <p class="small muted">
        Webhook endpoints get each event as the JSON body of a POST request. Verify its signature
        before you use it.
      </p>
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
    </section>
  );
}

function ObjectCard({ name, schema }: NamedSchema) {
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
  if (names.length === 0) return <>{text}</>;
  return (
    <>
      {text
        .split(/\b/)
        .map((word) => (names.includes(word) ? <a href={`#${objectId(word)}`}>{word}</a> : word))}
    </>
  );
}

const PARAMETER_TITLES = {
  path: 'Path parameters',
  query: 'Query parameters',
  header: 'Header parameters',
};

function OperationCard({ operation, baseUrl }: { operation: Operation; baseUrl: string }) {
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

const STYLE = `
.with-aside { display: grid; grid-template-columns: minmax(0, 1fr); gap: 0 32px; }
main { padding: 24px 0 48px; outline: none; min-width: 0; }
.lead { margin-top: 12px; }
.contents, .links, .operation details, .statuses, .fields { font-size: 14px; }
.contents { padding-top: 16px; }
.contents h2, .operation h4 { font-size: 14px; color: var(--muted); }
.contents > ul { display: flex; flex-wrap: wrap; gap: 0 16px; }
.contents .links { display: none; }
.contents a { display: inline-block; padding: 4px 0; text-decoration: none; }
.links a, .address a { display: flex; gap: 8px; align-items: baseline; padding: 4px 0; color: var(--ink); text-decoration: none; }
.contents a:hover, .links a:hover code, .address a:hover code { text-decoration: underline; }
.topic, .group { margin-top: 40px; }
.topic > * + *, .command + .command, .operation { margin-top: 12px; }
.operation { padding: 20px 24px; }
.operation:target { border-color: var(--accent); outline: 1px solid var(--accent); }
.operation section { margin-top: 20px; }
.method { flex: none; min-width: 52px; font: 650 14px/20px var(--mono); color: var(--tone); }
.get { --tone: var(--info); }
.post { --tone: var(--pass); }
.patch { --tone: var(--warn); }
.delete { --tone: var(--fail); }
.fields > li { padding: 8px 0; border-top: 1px solid var(--line); }
.fields > li:first-child { border-top: 0; }
.fields .fields { margin: 4px 0 0 4px; padding-left: 16px; border-left: 2px solid var(--line); }
.fields .name { font-weight: 650; }
.required { color: var(--accent); font-weight: 600; }
.command code { white-space: pre-wrap; }
.operation summary { display: flex; flex-wrap: wrap; align-items: center; gap: 0 8px; padding: 4px 0; }
.operation details > :not(summary) { margin-left: 24px; }
.statuses > div { display: grid; grid-template-columns: 40px minmax(0, 1fr); padding: 4px 0; }
.statuses dt { font-weight: 600; }
@media (min-width: 1000px) {
  .with-aside { grid-template-columns: 288px minmax(0, 1fr); }
  .contents { position: sticky; top: 0; align-self: start; max-height: 100vh; overflow-y: auto; padding: 24px 8px 24px 0; }
  .contents > ul { display: block; }
  .contents .parted { margin-top: 16px; font-weight: 600; }
  .contents .links { display: block; font-weight: 400; }
  .group > .links { display: none; }
}
@media (max-width: 640px) {
  .operation { padding: 16px; }
  .command .copyable { flex-direction: column; align-items: stretch; }
  .command .copy { align-self: flex-start; }
}
@media print {
  .contents, .group > .links { display: none; }
  .with-aside { display: block; }
}
`;
