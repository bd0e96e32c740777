/** The start page of the API reference: every operation and event type, each with a link to its page, and the topics. */

import { Chevron } from '../../ui/components.tsx';
import { DOCS_PATH, Fields, Method } from './operation-page.tsx';
import type { Operation, Reference } from './operations.ts';
import { Paragraph, type ServiceInfo, Statuses, TOPICS, WithCode } from './topics.tsx';

interface OverviewProps {
  reference: Reference;
  service: ServiceInfo;
}

export function Overview({ reference: { groups, events }, service }: OverviewProps) {
  const [first] = events;
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
      <section class="topics" aria-labelledby="topics-title">
        <h2 id="topics-title">Topics</h2>
        {Object.entries(TOPICS).map(([id, [title, blocks]]) => (
          <Fold key={id} id={id} title={title}>
            {blocks(service).map((block) =>
              typeof block === 'string' ? <Paragraph text={block} /> : block,
            )}
          </Fold>
        ))}
      </section>
      <section class="topics" aria-labelledby="operations-title">
        <h2 id="operations-title">Operations</h2>
        {groups.map(({ title, description, operations }) => (
          <Fold key={title} title={title}>
            <Paragraph class="small muted" text={description} />
            <Links operations={operations} />
          </Fold>
        ))}
        <Fold id="events" title="Event types">
          <p class="small muted">
            Webhook endpoints get each event as the JSON body of a POST request. Verify its
            signature before you use it.
          </p>
          <Links operations={events} />
          {first && (
            <>
              <h3>Header fields</h3>
              <Fields fields={first.parameters} isResponse />
              <h3>Your response</h3>
              <Statuses
                entries={Object.entries(first.responses).map(([status, { description }]) => [
                  status,
                  description,
                ])}
              />
            </>
          )}
        </Fold>
      </section>
    </>
  );
}

interface FoldProps {
  title: string;
  id?: string;
  children: preact.ComponentChildren;
}

const Fold = ({ title, id, children }: FoldProps) => (
  <details id={id}>
    <summary>
      <Chevron />
      <strong>{title}</strong>
    </summary>
    {children}
  </details>
);

const Links = ({ operations }: { operations: Operation[] }) => (
  <ul class="links">
    {operations.map(({ operationId, method, path, summary }) => (
      <li key={operationId} id={operationId}>
        <a href={`${DOCS_PATH}/${operationId}`}>
          <Method method={method} /> <code>{path}</code>
          <span class="muted">
            <WithCode text={summary} />
          </span>
        </a>
      </li>
    ))}
  </ul>
);
