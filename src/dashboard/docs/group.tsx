/** The page of one group of operations: its operations, and the objects that they return. */

import { EventCards, Names, ObjectCard, OperationCard, OperationLinks } from './cards.tsx';
import { DOCS_PATH, type DocsPage, eventId, objectId, pathOf, WHOLE_PATH } from './places.ts';
import { Paragraph } from './topics.tsx';

export function GroupPage({ page, baseUrl }: { page: DocsPage; baseUrl: string }) {
  const { title, description, operations, events, objects } = page;
  return (
    <>
      <p class="small">
        <a href={DOCS_PATH}>API reference</a>
      </p>
      <h1>{title}</h1>
      <Paragraph class="lead" text={description} />
      <section class="group" aria-labelledby="operations-title">
        <h2 id="operations-title">{events.length > 0 ? 'Requests and events' : 'Operations'}</h2>
        {operations.map((operation) => (
          <OperationCard key={operation.operationId} operation={operation} baseUrl={baseUrl} />
        ))}
        {events.length > 0 && <EventCards events={events} />}
      </section>
      {objects.length > 0 && (
        <section class="group" id="objects" aria-labelledby="objects-title">
          <h2 id="objects-title">Objects</h2>
          {objects.map((object) => (
            <ObjectCard key={object.name} {...object} />
          ))}
        </section>
      )}
    </>
  );
}

/** Beside the page on wide screens. On narrow ones, above it and without individual operations. */
export function GroupContents({ page, pages }: { page: DocsPage; pages: DocsPage[] }) {
  const { operations, events, objects } = page;
  return (
    <nav class="contents" aria-labelledby="contents-title">
      <h2 id="contents-title">API reference</h2>
      <ul>
        <li>
          <a href={DOCS_PATH}>Start</a>
        </li>
        {pages.map((each) => (
          <li key={each.slug}>
            <a href={pathOf(each)} aria-current={each === page ? 'page' : undefined}>
              {each.title}
            </a>
            {each === page && (
              <>
                <OperationLinks operations={operations} />
                {events.length > 0 && (
                  <Names names={events.map(({ type }) => [eventId(type), type])} />
                )}
                {objects.length > 0 && (
                  <Names names={objects.map(({ name }) => [objectId(name), name])} />
                )}
              </>
            )}
          </li>
        ))}
        <li>
          <a href={WHOLE_PATH}>Everything on one page</a>
        </li>
      </ul>
    </nav>
  );
}
