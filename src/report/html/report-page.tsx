/** A report as a self-contained HTML page, for the team or behind a shared link. */

import { truncate } from '../../lib/format/plain-text.ts';
import { APP_REPORT_CSP, FORM_CSP, FORM_REFERRER, PAGE_CSP, renderPage } from '../../ui/frame.tsx';
import { type Block, plainText, type ReportDocument } from '../blocks.ts';
import { type BrandColors, CHECKED_WITH, fitLogo, logoUrl } from '../brand.ts';
import { sharedDocument, testDocument } from '../document/document.ts';
import type { AppFrame, Report } from '../report.ts';
import type { Share } from '../share.ts';
import { Blocks, InlineText, Times } from './paint.tsx';
import { REPORT_STYLE } from './styles.ts';

/** The Content-Security-Policy header of the page. The page repeats it in a <meta>, where `frame-ancestors` is not allowed. */
export const REPORT_CSP = `${PAGE_CSP}; frame-ancestors 'none'`;

/** For a page on which the reader can choose the kind of mail. */
const REPORT_FORM_CSP = `${FORM_CSP}; frame-ancestors 'none'`;

/** For a report inside the web application. */
const APP_POLICY = `${APP_REPORT_CSP}; frame-ancestors 'none'`;

export function reportPolicy({ kindForm }: Pick<Report, 'kindForm'>, frame?: AppFrame): string {
  if (frame) return APP_POLICY;
  return kindForm === undefined ? REPORT_CSP : REPORT_FORM_CSP;
}

export function reportPage(report: Report, frame?: AppFrame): string {
  const document = testDocument(report, 'page');
  return frame
    ? renderInFrame(document, frame)
    : renderDocument(document, report.kindForm !== undefined);
}

function renderInFrame(document: ReportDocument, frame: AppFrame): string {
  const { shell, assets, above, below, times } = frame;
  return renderPage({
    title: `${document.title} · Deliverability`,
    skip: document.navigation.skip,
    // The files of the application contain the style of reports.
    style: '',
    csp: APP_REPORT_CSP,
    referrer: FORM_REFERRER,
    assets,
    shell,
    aside: tableOfContents(document),
    main: (
      <Times.Provider value={times}>
        <Trusted html={above} />
        <Blocks blocks={document.blocks} />
        <Trusted html={below} />
      </Times.Provider>
    ),
    foot: document.footer.length > 0 && (
      <Times.Provider value={times}>{footerSpans(document.footer)}</Times.Provider>
    ),
  });
}

/** HTML from templates of this program. */
function Trusted({ html }: { html: string }) {
  return html === '' ? null : <div dangerouslySetInnerHTML={{ __html: html }} />;
}

const footerSpans = (footer: ReportDocument['footer']) =>
  footer.map((text, index) => (
    <span key={`${index + 1}`}>
      <InlineText text={text} />
    </span>
  ));

/** The reports must be redacted already. */
export const sharedPage = (share: Share): string => renderDocument(sharedDocument(share, 'page'));

const LOGO_SIZE = { width: 160, height: 32 };

/** All colors of the page follow from `--accent`. */
const brandStyle = ({ light, dark }: BrandColors): string =>
  `:root { --accent: light-dark(${light}, ${dark}); --accent-soft: var(--sunken); }`;

/** Text from a message is escaped and never becomes a link. */
export function renderDocument(document: ReportDocument, hasForm = false): string {
  const { title, blocks, navigation, brand = null } = document;
  const footer = [...document.footer, ...(brand ? [[CHECKED_WITH]] : [])];
  const logo = brand?.logo;
  return renderPage({
    title,
    brand: brand && {
      name: brand.name,
      logo: logo ? { url: logoUrl(logo), ...fitLogo(logo, LOGO_SIZE) } : null,
    },
    skip: navigation.skip,
    style: REPORT_STYLE + (brand?.colors ? brandStyle(brand.colors) : ''),
    ...(hasForm ? { csp: FORM_CSP, referrer: FORM_REFERRER } : {}),
    aside: tableOfContents(document),
    main: <Blocks blocks={blocks} />,
    foot: footer.length > 0 && footerSpans(footer),
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
    case 'front':
      return block.blocks.flatMap(contentsEntry);
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
