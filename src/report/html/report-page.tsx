/** A report as a page, for the team or behind a shared link: one complete document that needs nothing but itself. */

import { type Block, plainText, type ReportDocument } from '../blocks.ts';
import { sharedDocument, testDocument } from '../document/document.ts';
import { cut } from '../plain-text.ts';
import type { Report } from '../report.ts';
import type { Share } from '../share.ts';
import { PAGE_CSP, renderPage } from './frame.tsx';
import { Blocks, Words } from './paint.tsx';
import { REPORT_STYLE } from './styles.ts';

/** To be sent as Content-Security-Policy with the page; the page itself holds it but for the last part. */
export const REPORT_CSP = `${PAGE_CSP}; frame-ancestors 'none'`;

export const reportPage = (report: Report): string => paintPage(testDocument(report, 'page'));

/** The reports must have been redacted. */
export const sharedPage = (share: Share): string => paintPage(sharedDocument(share, 'page'));

/** Everything of a message in it is escaped and no link. */
export function paintPage(document: ReportDocument): string {
  const { title, blocks, foot, ways } = document;
  return renderPage({
    title,
    skip: ways.skip,
    style: REPORT_STYLE,
    aside: contentsOf(document),
    main: <Blocks of={blocks} />,
    foot:
      foot.length > 0 &&
      foot.map((text, index) => (
        <span key={`${index + 1}`}>
          <Words of={text} />
        </span>
      )),
  });
}

/** Links to the parts, for beside them; none where there is only one. */
function contentsOf({ blocks, ways }: ReportDocument) {
  const entries = blocks.flatMap(entryOf);
  if (entries.length < 2) return null;
  const isListOfTests = blocks.some(({ kind }) => kind === 'part');
  return (
    <nav class={isListOfTests ? 'contents test-list' : 'contents'} aria-label={ways.contents}>
      <ol>
        {entries.map(({ id, title }) => (
          <li key={id}>
            <a href={`#${id}`}>{title}</a>
          </li>
        ))}
      </ol>
    </nav>
  );
}

/** Longer names of tests take more lines than they are worth. */
const MAX_TITLE = 60;

function entryOf(block: Block): { id: string; title: string }[] {
  switch (block.kind) {
    case 'section':
      return [{ id: block.id, title: block.title }];
    case 'overview':
      return block.title === null ? [] : [{ id: block.id, title: block.title }];
    case 'part':
      return [{ id: block.id, title: cut(plainText(block.title), MAX_TITLE) }];
    default:
      return [];
  }
}
