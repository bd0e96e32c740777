/** The whole API reference on one page, for print and for a search in the browser. */

import { EventCards, Names, ObjectCard, OperationCard, OperationLinks } from './cards.tsx';
import type { Reference } from './operations.ts';
import { DOCS_PATH, EVENTS_TEXT, EVENTS_TITLE, eventId, objectId } from './places.ts';
import { Lead } from './start.tsx';
import { type ServiceInfo, TOPICS, Topics } from './topics.tsx';

const OBJECTS_TITLE = 'Objects';
const anchorOf = ({ slug }: { slug: string }): string => `group-${slug}`;

/** Beside the reference on wide screens. On narrow ones, above it and without individual operations. */
export function WholeContents({
  reference: { groups, events, objects },
}: {
  reference: Reference;
}) {
  return (
    <nav class="contents" aria-labelledby="contents-title">
      <h2 id="contents-title">On this page</h2>
      <ul>
        {Object.entries(TOPICS).map(([id, [title]]) => (
          <li key={id}>
            <a href={`#${id}`}>{title}</a>
          </li>
        ))}
        {groups.map((group) => (
          <li key={group.slug} class="parted">
            <a href={`#${anchorOf(group)}`}>{group.title}</a>
            <OperationLinks operations={group.operations} />
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

interface WholeProps {
  reference: Reference;
  service: ServiceInfo;
}

export function WholeReference({ reference: { groups, events, objects }, service }: WholeProps) {
  return (
    <>
      <h1>API reference</h1>
      <Lead />
      <p class="lead small muted">
        Version {service.version} · <a href={DOCS_PATH}>One page for each group</a>, which loads
        faster
      </p>
      <Topics service={service} />
      {groups.map((group) => (
        <section
          key={group.slug}
          id={anchorOf(group)}
          class="group"
          aria-labelledby={`${anchorOf(group)}-title`}
        >
          <h2 id={`${anchorOf(group)}-title`}>{group.title}</h2>
          <p class="small muted">{group.description}</p>
          <OperationLinks operations={group.operations} />
          {group.operations.map((operation) => (
            <OperationCard
              key={operation.operationId}
              operation={operation}
              baseUrl={service.baseUrl}
            />
          ))}
        </section>
      ))}
      <section id="events" class="group" aria-labelledby="events-title">
        <h2 id="events-title">{EVENTS_TITLE}</h2>
        <p class="small muted">{EVENTS_TEXT}</p>
        <EventCards events={events} />
      </section>
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
