/** SPF, each DKIM signature and DMARC: the result, the authenticated domain, and whether it aligns with From. */

import {
  type Alignment,
  type AlignmentRow,
  type Block,
  badge,
  code,
  oneLine,
  type Section,
  type StateSpan,
  small,
  type Text,
} from '../blocks.ts';
import { authenticationOf, type Identifier } from '../content.ts';
import type { ReportedResult } from '../report.ts';
import { authState } from './evidence.ts';
import { authStates } from './verdict.ts';

const TITLE = 'Authentication';

/** Without `hasDrawing`, only the table. */
export function authenticationSection(report: ReportedResult, hasDrawing: boolean): Section {
  const { fromDomain, identifiers, dmarc, uncheckedSignatures } = authenticationOf(report);
  const rows = identifiers.map(rowOf);
  const alignment: Alignment = {
    kind: 'alignment',
    columns: {
      mechanism: 'Mechanism',
      result: 'Result',
      domain: 'Domain',
      alignment: 'Alignment',
      lane: 'Authenticated domain and From domain',
    },
    fromLabel: 'From',
    fromDomain: fromDomain === null ? null : oneLine(fromDomain, 255),
    rows,
    outcome: {
      mechanism: 'DMARC',
      result: { ...authState(dmarc.result), badge: true },
      domain: [fromDomain ? code(fromDomain, 255) : 'No single From domain'],
      below: recordText(dmarc),
    },
    alt: hasDrawing ? alternativeText(rows, fromDomain) : null,
  };
  const blocks: Block[] = [alignment];
  if (uncheckedSignatures > 0)
    blocks.push(
      small(
        `${uncheckedSignatures} more DKIM ${uncheckedSignatures === 1 ? 'signature was' : 'signatures were'} not checked.`,
      ),
    );
  return {
    kind: 'section',
    id: 'authentication',
    title: TITLE,
    fold: {
      open: Object.values(report.auth_results).some((result) => result !== 'pass'),
      count: authStates(report)
        .items.map(({ name, state }) => `${name} ${state.word}`)
        .join(', '),
    },
    note: ['DMARC passes if SPF or DKIM passes for a domain that aligns with the From domain.'],
    blocks,
  };
}

/** For a terminal: one line with the three results. */
export const shortAuthentication = (result: ReportedResult): Section => ({
  kind: 'section',
  id: 'authentication',
  title: TITLE,
  note: null,
  blocks: [authStates(result)],
});

function recordText({
  record,
  policy,
  recordName,
}: ReturnType<typeof authenticationOf>['dmarc']): Text {
  if (!record) return ['No DMARC record found.'];
  const from = `Policy ${oneLine(policy ?? 'unknown', 20)}, from `;
  return [from, code(recordName ?? '', 255), ': ', code(record, 500)];
}

function rowOf(identifier: Identifier): AlignmentRow {
  const { mechanism, result, domain, notes } = identifier;
  return {
    mechanism,
    result: { ...authState(result), badge: true },
    domain: domain === null ? null : oneLine(domain, 255),
    noDomainText: 'no domain',
    alignment: domain === null ? null : alignmentOf(identifier),
    notes: notes.map((note) => oneLine(note, 500)).join(' · '),
  };
}

/** Alignment counts only for a domain that was authenticated. */
function alignmentOf({ aligned, result }: Identifier): StateSpan {
  if (aligned === null) return badge('unknown', 'not compared');
  if (!aligned) return badge('fail', 'not aligned');
  return result === 'pass'
    ? badge('pass', 'aligned')
    : badge('unknown', 'aligned, not authenticated');
}

function alternativeText(rows: AlignmentRow[], fromDomain: string | null): string {
  if (fromDomain === null) return '';
  const sentences = rows.flatMap(({ mechanism, result, domain, alignment }) =>
    domain === null || alignment === null
      ? []
      : [`${mechanism} ${result.word} for ${domain}, with ${fromDomain}: ${alignment.word}.`],
  );
  return oneLine(sentences.join(' '), 1000);
}
