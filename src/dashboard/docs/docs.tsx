/** The API reference page. It shows the document of `/openapi.json` and loads no other resources. */

import type { App } from '../../app.ts';
import { describeApi } from '../../health/routes.ts';
import { type Route, route } from '../../http/route.ts';
import { memoizePerObject } from '../../lib/memoize.ts';
import { Chevron } from '../../report/html/components.tsx';
import { PAGE_CSP, renderPage } from '../../report/html/frame.tsx';
import { curlsOf } from './curl.ts';
import {
  describeType,
  type Field,
  fieldsOf,
  type Group,
  limitsOf,
  type Operation,
  type OperationResponse,
  readOperations,
} from './operations.ts';
import { Command, Paragraph, type Setting, Statuses, TOPICS, WithCode } from './topics.tsx';

/** The API reference of these routes. The first request renders it. */
export function docsPage(documented: Route[]): Route {
  const htmlOf = memoizePerObject((app: App) => renderDocs(documented, app));
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

function renderDocs(documented: Route[], { config, version }: App): string {
  const groups = readOperations(describeApi(documented, config, version));
  const baseUrl = config.BASE_URL.replace(/\/$/, '');
  return renderPage({
    title: 'API reference · Deliverability',
    skip: 'Skip to content',
    style: STYLE,
    aside: <Contents groups={groups} />,
    main: <Reference groups={groups} setting={{ baseUrl, version, rate: config.RATE_LIMIT }} />,
  });
}

/** Beside the reference on wide screens. On narrow ones, above it and without individual operations. */
function Contents({ groups }: { groups: Group[] }) {
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
      </ul>
    </nav>
  );
}

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

function Reference({ groups, setting }: { groups: Group[]; setting: Setting }) {
  return (
    <>
      <h1>API reference</h1>
      <p class="lead">
        The API tests how mailbox providers treat your mail. Create a test, send your message to its
        test address, and get a report with your score, what lowered it, and how to improve it. This
        reference is also available as an OpenAPI document at{' '}
        <a href="/openapi.json">/openapi.json</a>.
      </p>
      <p class="lead small muted">Version {setting.version}</p>
      {Object.entries(TOPICS).map(([id, [title, blocks]]) => (
        <section key={id} id={id} class="topic" aria-labelledby={`${id}-title`}>
          <h2 id={`${id}-title`}>{title}</h2>
          {blocks(setting).map((block) =>
            typeof block === 'string' ? <Paragraph text={block} /> : block,
          )}
        </section>
      ))}
      {groups.map(({ id, title, operations }) => (
        <section key={id} id={id} class="group" aria-labelledby={`${id}-title`}>
          <h2 id={`${id}-title`}>{title}</h2>
          <Links operations={operations} />
          {operations.map((operation) => (
            <OperationCard
              key={operation.operationId}
              operation={operation}
              baseUrl={setting.baseUrl}
            />
          ))}
        </section>
      ))}
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
  // Query parameters belong to bodies that aren't JSON. A JSON body has fields for the same values.
  const rawType = bodies.length > 1 && bodies.find(([type]) => type !== 'application/json')?.[0];
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
      {(['path', 'query', 'header'] as const).map((place) => {
        const fields = parameters.filter((parameter) => parameter.in === place);
        if (fields.length === 0) return null;
        return (
          <section key={place}>
            <h4>
              {PARAMETER_TITLES[place]}
              {place === 'query' && rawType && ` (with a ${rawType} body)`}
            </h4>
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
          <Fields key={type} fields={fieldsOf(schema)} isResponse />
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
            <code class="name">{name}</code> <span class="muted">{describeType(schema)}</span>{' '}
            {required && !isResponse && <span class="required">required</span>}
            {!required && isResponse && <span class="muted">optional</span>}
          </p>
          {[limitsOf(schema).join(' · '), description].map(
            (text) => text && <Paragraph class="muted" text={text} />,
          )}
          <Fields fields={fieldsOf(schema)} isResponse={isResponse} depth={depth + 1} />
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
