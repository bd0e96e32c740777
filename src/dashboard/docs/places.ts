/** Which page of the API reference has what: one page for each group of operations, and one for the event types. */

import type { EventType, NamedSchema, Operation, Reference } from './operations.ts';

/** A page below `/docs`. */
export interface DocsPage {
  /** The last part of its path. */
  slug: string;
  title: string;
  description: string;
  operations: Operation[];
  events: EventType[];
  /** The objects that no earlier page has. */
  objects: NamedSchema[];
}

export const DOCS_PATH = '/docs';
/** Everything on one page, for print and for a search in the browser. */
export const WHOLE_PATH = `${DOCS_PATH}/all`;

export const EVENTS_TITLE = 'Event types';
export const EVENTS_TEXT =
  'Webhook endpoints get each event as the JSON body of a POST request. Verify its signature before you use it.';
const EVENTS_SLUG = 'event-types';

export const eventId = (type: string): string => `event-${type}`;
export const objectId = (name: string): string => `object-${name}`;
export const pathOf = ({ slug }: Pick<DocsPage, 'slug'>): string => `${DOCS_PATH}/${slug}`;

/** In the order of the reference. An object is on the first page that mentions it. */
export function pagesOf({ groups, events, objects }: Reference): DocsPage[] {
  const placed = new Set<string>();
  const objectsIn = (part: unknown): NamedSchema[] => {
    const text = JSON.stringify(part);
    const found = objects.filter(
      ({ name }) => !placed.has(name) && text.includes(`"title":"${name}"`),
    );
    for (const { name } of found) placed.add(name);
    return found;
  };
  return [
    ...groups.map(({ slug, title, description, operations }) => ({
      slug,
      title,
      description,
      operations,
      events: [],
      objects: objectsIn(operations.map(({ responses }) => responses)),
    })),
    {
      slug: EVENTS_SLUG,
      title: EVENTS_TITLE,
      description: EVENTS_TEXT,
      operations: [],
      events,
      objects: objectsIn(events),
    },
  ];
}

/** The paths of the pages by the anchors that they have. */
export function placesOf(pages: DocsPage[]): Map<string, string> {
  return new Map(
    pages.flatMap((page) =>
      [
        ...page.operations.map(({ operationId }) => operationId),
        ...page.events.map(({ type }) => eventId(type)),
        ...page.objects.map(({ name }) => objectId(name)),
      ].map((anchor) => [anchor, pathOf(page)]),
    ),
  );
}
