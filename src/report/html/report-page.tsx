/** The report as a page: one complete document that needs nothing but itself. */

import { verdictOf } from '../content.ts';
import type { Report } from '../report.ts';
import { AuthenticationSection } from './authentication.tsx';
import { oneLine, Time } from './components.tsx';
import { PathSection } from './delivery-path.tsx';
import { Fixes, RestSection } from './findings.tsx';
import { PAGE_CSP, renderPage } from './frame.tsx';
import { LedgerSection } from './ledger.tsx';
import { MessageSection } from './message.tsx';
import { PlacementSection, ProvidersSection } from './providers.tsx';
import { REPORT_STYLE, SECTIONS_STYLE } from './styles.ts';
import { Verdict } from './verdict.tsx';

/** To be sent as Content-Security-Policy with the page; the page itself holds it but for the last part. */
export const REPORT_CSP = `${PAGE_CSP}; frame-ancestors 'none'`;

/** Everything of the message in it is escaped, bounded, and no link. */
export function reportPage(report: Report): string {
  return renderPage({
    title: titleOf(report),
    skip: 'Skip to the report',
    style: REPORT_STYLE + SECTIONS_STYLE,
    aside: <Contents />,
    main: <ReportBody report={report} />,
    foot: <ReportFoot report={report} />,
  });
}

/** `87 B · Order confirmation`. */
export function titleOf({ score, grade, name, subject, summary }: Report): string {
  const what = name ?? subject ?? verdictOf(summary);
  return `${score === null ? 'No score' : `${score} ${grade}`} · ${oneLine(what, 80)}`;
}

// The sections of a report in their order: the whole of it, or what people outside of the team may see.

const SECTIONS = [
  { id: 'fix', title: 'Fix these first', Part: Fixes },
  { id: 'score', title: 'How the score comes about', Part: LedgerSection },
  { id: 'authentication', title: 'Authentication', Part: AuthenticationSection },
  { id: 'placement', title: 'Where it landed', Part: PlacementSection },
  { id: 'providers', title: 'Providers’ rules', Part: ProvidersSection },
  { id: 'path', title: 'The way it came', Part: PathSection, ofMessage: true },
  { id: 'message', title: 'The message', Part: MessageSection, ofMessage: true },
  { id: 'rest', title: 'Everything else', Part: RestSection },
];

const sectionsOf = (shared: boolean | undefined) =>
  SECTIONS.filter(({ ofMessage }) => !(shared && ofMessage));

interface BodyProps {
  report: Report;
  /** Without the parts that show the message. */
  shared?: boolean;
}

export function ReportBody({ report, shared }: BodyProps) {
  return (
    <>
      <Verdict report={report} />
      {sectionsOf(shared).map(({ id, Part }) => (
        <Part key={id} report={report} />
      ))}
    </>
  );
}

/** Links to the sections, for beside them. */
export function Contents({ shared }: { shared?: boolean }) {
  return (
    <nav class="contents" aria-label="Sections of the report">
      <ol>
        {sectionsOf(shared).map(({ id, title }) => (
          <li key={id}>
            <a href={`#${id}`}>{title}</a>
          </li>
        ))}
      </ol>
    </nav>
  );
}

export function ReportFoot({ report: { ruleset, completed_at } }: { report: Report }) {
  return (
    <>
      <span>Rules {ruleset}</span>
      {completed_at && (
        <span>
          Analysed <Time iso={completed_at} />
        </span>
      )}
    </>
  );
}
