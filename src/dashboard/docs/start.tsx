/** The start page of the API reference: how to begin, the groups, and every operation with a link. */

import { Method } from './cards.tsx';
import { type DocsPage, eventId, objectId, pathOf, WHOLE_PATH } from './places.ts';
import { Paragraph, type ServiceInfo, TOPICS, Topics, WithCode } from './topics.tsx';

interface StartProps {
  pages: DocsPage[];
  service: ServiceInfo;
}

export function StartPage({ pages, service }: StartProps) {
  return (
    <>
      <h1>API reference</h1>
      <Lead />
      <p class="lead small muted">
        Version {service.version} · <a href={WHOLE_PATH}>Everything on one page</a>, to print or to
        search in
      </p>
      <section id="groups" class="topic" aria-labelledby="groups-title">
        <h2 id="groups-title">Groups</h2>
        <ul class="groups">
          {pages.map((page) => (
            <li key={page.slug}>
              <a href={pathOf(page)}>{page.title}</a>
              <Paragraph class="small muted" text={page.description} />
            </li>
          ))}
        </ul>
      </section>
      <Topics service={service} />
      <section class="group" aria-labelledby="operations-title">
        <h2 id="operations-title">All operations</h2>
        {pages.map((page) => (
          <Operations key={page.slug} page={page} />
        ))}
      </section>
      <section id="objects" class="group" aria-labelledby="objects-title">
        <h2 id="objects-title">All objects</h2>
        <ul class="links list columns">
          {pages
            .flatMap((page) => page.objects.map(({ name }) => ({ name, path: pathOf(page) })))
            .toSorted((a, b) => a.name.localeCompare(b.name, 'en'))
            .map(({ name, path }) => (
              <li key={name}>
                <Moved path={path} anchor={objectId(name)}>
                  <code>{name}</code>
                </Moved>
              </li>
            ))}
        </ul>
      </section>
    </>
  );
}

export const Lead = () => (
  <p class="lead">
    The API tests how mailbox providers treat your mail. Create a test, send your message to its
    test address, and get a report with your score, what lowered it, and how to improve it. This
    reference is also available as an OpenAPI document at <a href="/openapi.json">/openapi.json</a>.
  </p>
);

function Operations({ page }: { page: DocsPage }) {
  const path = pathOf(page);
  return (
    <>
      <h3 id={page.events.length > 0 ? 'events' : `group-${page.slug}`}>
        <a href={path}>{page.title}</a>
      </h3>
      <ul class="links list">
        {page.operations.map(({ operationId, method, path: at, summary }) => (
          <li key={operationId}>
            <Moved path={path} anchor={operationId}>
              <Method method={method} /> <code>{at}</code>
              <span class="summary">
                <WithCode text={summary} />
              </span>
            </Moved>
          </li>
        ))}
        {page.events.map(({ type, summary }) => (
          <li key={type}>
            <Moved path={path} anchor={eventId(type)}>
              <code>{type}</code>
              <span class="summary">{summary}</span>
            </Moved>
          </li>
        ))}
      </ul>
    </>
  );
}

interface MovedProps {
  path: string;
  anchor: string;
  children: preact.ComponentChildren;
}

/** Bookmarks lead to this anchor here. The script of the page goes on to where it is now. */
const Moved = ({ path, anchor, children }: MovedProps) => (
  <a id={anchor} href={`${path}#${anchor}`} data-moved>
    {children}
  </a>
);

/** Beside the page on wide screens, above it on narrow ones. */
export function StartContents({ pages }: Pick<StartProps, 'pages'>) {
  return (
    <nav class="contents" aria-labelledby="contents-title">
      <h2 id="contents-title">API reference</h2>
      <ul>
        {Object.entries(TOPICS).map(([id, [title]]) => (
          <li key={id}>
            <a href={`#${id}`}>{title}</a>
          </li>
        ))}
        {pages.map((page, i) => (
          <li key={page.slug} class={i === 0 ? 'apart' : undefined}>
            <a href={pathOf(page)}>{page.title}</a>
          </li>
        ))}
        <li class="apart">
          <a href={WHOLE_PATH}>Everything on one page</a>
        </li>
      </ul>
    </nav>
  );
}
