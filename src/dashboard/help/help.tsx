/** The documents as pages: a list of chapters, and each chapter. Everyone may read them; members keep their navigation. */

import type { ComponentChildren } from 'preact';
import * as v from 'valibot';
import { type Block, plainText } from '../../help/blocks.ts';
import { chapterOf, contents, HELP_PATH } from '../../help/chapters.ts';
import type { Call } from '../../http/route.ts';
import { AppError } from '../../lib/errors.ts';
import { searchRoute } from '../../search/routes.ts';
import { Chevron } from '../../ui/components.tsx';
import { FORM_REFERRER, renderPage } from '../../ui/frame.tsx';
import { appPage, Breadcrumbs } from '../frame/app-page.tsx';
import { ASSETS } from '../frame/assets.ts';
import { FooterLinks } from '../frame/page.tsx';
import { memberCallOf, page } from '../frame/page-route.ts';
import { PAGE_HEADERS, PAGE_POLICY } from '../frame/policy.ts';
import { Blocks } from './chapter.tsx';

const Query = v.strictObject({});
/** A chapter with fewer sections needs no list of them. */
const MIN_SECTIONS = 3;

export const helpPages = [
  page({
    path: HELP_PATH,
    operation: 'showHelp',
    role: 'public',
    identifiesMembers: true,
    summary: 'Show the chapters of the help',
    query: Query,
    handle: (call) =>
      respond(call, {
        title: 'Help',
        path: HELP_PATH,
        children: <Blocks blocks={contents()} chapter="README" />,
      }),
  }),
  page({
    path: `${HELP_PATH}/:chapter`,
    operation: 'showHelpChapter',
    role: 'public',
    identifiesMembers: true,
    summary: 'Show a chapter of the help',
    query: Query,
    handle(call) {
      const name = call.params.chapter!;
      const chapter = chapterOf(name);
      if (!chapter) throw new AppError('not_found', 'Page not found. Check the URL.');
      const { title, blocks } = chapter;
      return respond(call, {
        title,
        path: `${HELP_PATH}/${name}`,
        parents: [{ href: HELP_PATH, text: 'Help' }],
        children: (
          <>
            <Sections blocks={blocks} />
            <Blocks blocks={blocks} chapter={name} />
          </>
        ),
      });
    },
  }),
];

interface HelpPage {
  title: string;
  path: string;
  parents?: { href: string; text: string }[];
  children: ComponentChildren;
}

function respond(
  call: Call<'public', typeof Query, undefined>,
  { title, path, parents = [], children }: HelpPage,
): Response | Promise<Response> {
  const content = <article class="chapter">{children}</article>;
  const memberCall = memberCallOf(call);
  if (memberCall)
    return appPage(memberCall, {
      title,
      section: null,
      path,
      parents,
      calls: [{ route: searchRoute, query: { q: title } }],
      children: content,
    });
  const html = renderPage({
    title: `${title} · Deliverability`,
    skip: 'Skip to content',
    style: '',
    csp: PAGE_POLICY,
    referrer: FORM_REFERRER,
    assets: ASSETS,
    main: (
      <>
        <Breadcrumbs parents={parents} />
        <div class="page-head">
          <h1>{title}</h1>
        </div>
        {content}
      </>
    ),
    foot: <FooterLinks isPreview={false} />,
  });
  return new Response(html, { headers: PAGE_HEADERS });
}

function Sections({ blocks }: { blocks: Block[] }) {
  const sections = blocks.filter((block) => block.kind === 'heading' && block.level === 2);
  if (sections.length < MIN_SECTIONS) return null;
  return (
    <details class="box">
      <summary>
        <Chevron /> On this page
      </summary>
      <ul>
        {sections.map((section) =>
          section.kind === 'heading' ? (
            <li key={section.id}>
              <a href={`#${section.id}`}>{plainText(section.text)}</a>
            </li>
          ) : null,
        )}
      </ul>
    </details>
  );
}
