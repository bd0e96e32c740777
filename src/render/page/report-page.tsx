/** The report as a page: one complete document that needs nothing but itself. */

import type { Report } from '../report.ts';
import { verdictOf } from '../report-words.ts';
import { AuthenticationSection } from './authentication.tsx';
import { Fixes } from './fixes.tsx';
import { PAGE_CSP, renderPage } from './frame.tsx';
import { LedgerSection } from './ledger.tsx';
import { MessageSection } from './message.tsx';
import { PathSection } from './path.tsx';
import { PlacementSection } from './placement.tsx';
import { ProvidersSection } from './providers.tsx';
import { REPORT_STYLE } from './report-style.ts';
import { SECTIONS_STYLE } from './sections-style.ts';
import { oneLine, Time } from './shown-values.tsx';
import { RestSection } from './the-rest.tsx';
import { Verdict } from './verdict.tsx';

/** To be sent as Content-Security-Policy with the page; the page itself holds it but for the last part. */
export const REPORT_CSP = `${PAGE_CSP}; frame-ancestors 'none'`;

const CONTENTS = [
  ['fix', 'Fix these first'],
  ['score', 'How the score comes about'],
  ['authentication', 'Authentication'],
  ['placement', 'Where it landed'],
  ['providers', 'Providers’ rules'],
  ['path', 'The way it came'],
  ['message', 'The message'],
  ['rest', 'Everything else'],
] as const;

/** Everything of the message in it is escaped, bounded, and no link. */
export function reportPage(report: Report): string {
  return renderPage({
    title: titleOf(report),
    skip: 'Skip to the report',
    style: REPORT_STYLE + SECTIONS_STYLE,
    aside: (
      <nav class="contents" aria-label="Sections of the report">
        <ol>
          {CONTENTS.map(([id, title]) => (
            <li key={id}>
              <a href={`#${id}`}>{title}</a>
            </li>
          ))}
        </ol>
      </nav>
    ),
    main: (
      <>
        <Verdict report={report} />
        <Fixes report={report} />
        <LedgerSection report={report} />
        <AuthenticationSection report={report} />
        <PlacementSection report={report} />
        <ProvidersSection report={report} />
        <PathSection report={report} />
        <MessageSection report={report} />
        <RestSection report={report} />
      </>
    ),
    foot: (
      <>
        <span>Rules {report.ruleset}</span>
        {report.completed_at && (
          <span>
            Analysed <Time iso={report.completed_at} />
          </span>
        )}
      </>
    ),
  });
}

function titleOf({ score, grade, name, subject, summary }: Report): string {
  const what = name ?? subject ?? verdictOf(summary);
  return `${score === null ? 'No score' : `${score} ${grade}`} · ${oneLine(what, 80)}`;
}
