/** A report as a self-contained HTML page, for the team or behind a shared link. */

import { type Block, plainText, type ReportDocument } from '../blocks.ts';
import { sharedDocument, testDocument } from '../document/document.ts';
import { truncate } from '../plain-text.ts';
import type { Report } from '../report.ts';
import type { Share } from '../share.ts';
import { FORM_CSP, FORM_REFERRER, PAGE_CSP, renderPage } from './frame.tsx';
import { Blocks, InlineText } from './paint.tsx';
import { REPORT_STYLE } from './styles.ts';

/** The Content-Security-Policy header of the page. The page repeats it in a <meta>, where `frame-ancestors` is not allowed. */
export const REPORT_CSP = `${PAGE_CSP}; frame-ancestors 'none'`;

/** For a page on which the reader can choose the kind of mail. */
const REPORT_FORM_CSP = `${FORM_CSP}; frame-ancestors 'none'`;

export const reportPolicy = ({ kindForm }: Pick<Report, 'kindForm'>): string =>
  kindForm === undefined ? REPORT_CSP : REPORT_FORM_CSP;

export const reportPage = (report: Report): string =>
  renderDocument(testDocument(report, 'page'), report.kindForm !== undefined);

/** The reports must be redacted already. */
export const sharedPage = (share: Share): string => renderDocument(sharedDocument(share, 'page'));

/** Text from a message is escaped and never becomes a link. */
export function renderDocument(document: ReportDocument, hasForm = false): string {
  const { title, blocks, footer, navigation } = document;
  return renderPage({
    title,
    skip: navigation.skip,
    style: REPORT_STYLE,
    ...(hasForm ? { csp: FORM_CSP, referrer: FORM_REFERRER } : {}),
    aside: tableOfContents(document),
    main: <Blocks blocks={blocks} />,
    foot:
      footer.length > 0 &&
      footer.map((text, index) => (
        <span key={`${index + 1}`}>
          <InlineText text={text} />
        </span>
      )),
  });
}

/** The table of contents beside the page; none for fewer than two entries. */
function tableOfContents({ blocks, navigation }: ReportDocument) {
  const entries = blocks.flatMap(contentsEntry);
  if (entries.length < 2) return null;
  const isListOfTests = blocks.some(({ kind }) => kind === 'part');
  return (
    <nav class={isListOfTests ? 'contents test-list' : 'contents'} aria-label={navigation.contents}>
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

/** Longer test names would wrap onto too many lines. */
const MAX_TITLE_LENGTH = 60;

function contentsEntry(block: Block): { id: string; title: string }[] {
  switch (block.kind) {
    case 'section':
      return [{ id: block.id, title: block.title }];
    case 'overview':
      return block.title === null ? [] : [{ id: block.id, title: block.title }];
    case 'part':
      return [{ id: block.id, title: truncate(plainText(block.title), MAX_TITLE_LENGTH) }];
    default:
      return [];
  }
}
