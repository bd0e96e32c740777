/** The sections of a report in their order: the whole of it, or what people outside of the team may see. */

import type { Report } from '../report.ts';
import { AuthenticationSection } from './authentication.tsx';
import { Fixes } from './fixes.tsx';
import { LedgerSection } from './ledger.tsx';
import { MessageSection } from './message.tsx';
import { PathSection } from './path.tsx';
import { PlacementSection } from './placement.tsx';
import { ProvidersSection } from './providers.tsx';
import { Time } from './shown-values.tsx';
import { RestSection } from './the-rest.tsx';
import { Verdict } from './verdict.tsx';

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
