/** The page of a list with cursors: what is in it, and links to newer and older rows. */

import type { ComponentChildren } from 'preact';
import * as v from 'valibot';
import type { Role } from '../../http/actor.ts';
import type { ResultOf, Route } from '../../http/route.ts';
import type { Section } from '../../search/pages.ts';
import { appPage, type PageCall } from './app-page.tsx';
import type { ApiCall } from './curl.tsx';
import { Notice } from './form.tsx';
import { page } from './page-route.ts';
import { Pager } from './table.tsx';

export const ListQuery = v.strictObject({
  starting_after: v.optional(v.string()),
  ending_before: v.optional(v.string()),
  done: v.optional(v.string()),
});

type RowsOf<T extends Route> = ResultOf<T> extends { data: infer Rows } ? Rows : never;

interface Content {
  /** Buttons beside the heading. */
  actions?: ComponentChildren;
  /** Links to the other pages of the section, above the notice. */
  tabs?: ComponentChildren;
  /** Above the list. */
  before?: ComponentChildren;
  /** A table, or that there is nothing yet. */
  list: ComponentChildren;
  /** Below the list. */
  after?: ComponentChildren;
  /** Other operations whose results the page shows. */
  calls?: ApiCall[];
}

interface ListPage<T extends Route> {
  path: string;
  /** The name of the route of the page. */
  operation: string;
  summary: string;
  title: string;
  section: Section;
  /** The operation that lists the objects. */
  route: T;
  /** What was done before, by the value of `done`. */
  done?: Record<string, string>;
  content(rows: RowsOf<T>, call: PageCall): Content | Promise<Content>;
}

/** Declares such a page, for the role of the operation. */
export const listPage = <T extends Route>(declaration: ListPage<T>) => {
  const { path, operation, summary, title, section, route, done = {}, content } = declaration;
  return page({
    path,
    operation,
    summary,
    role: route.role as Role,
    query: ListQuery,
    async handle(call) {
      const { done: name = '', ...cursors } = call.query;
      const result: unknown = await call.invoke<Route>(route, { query: cursors as never });
      const { data, has_more } = result as { data: { id: string }[]; has_more: boolean };
      const {
        actions,
        tabs,
        before,
        list,
        after,
        calls = [],
      } = await content(data as RowsOf<T>, call);
      return appPage(call, {
        title,
        section,
        path,
        actions,
        calls: [{ route, query: cursors }, ...calls],
        children: (
          <>
            {tabs}
            {Object.hasOwn(done, name) && <Notice tone="pass">{done[name]}</Notice>}
            {before}
            {list}
            <Pager path={path} query={{}} cursors={cursors} rows={data} hasMore={has_more} />
            {after}
          </>
        ),
      });
    },
  });
};
