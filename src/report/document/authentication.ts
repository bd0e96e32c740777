/** SPF, each DKIM signature and DMARC: the result, the domain it speaks for, and whether that is the sender's. */

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
import type { Reported } from '../report.ts';
import { authState } from './evidence.ts';
import { authStates } from './verdict.ts';

const TITLE = 'Authentication';

export function authenticationSection(report: Reported): Section {
  const { fromDomain, identifiers, dmarc, ignored } = authenticationOf(report);
  const rows = identifiers.map(rowOf);
  const alignment: Alignment = {
    kind: 'alignment',
    columns: {
      mechanism: 'Mechanism',
      result: 'Result',
      domain: 'Domain',
      joint: 'With the From domain',
      lane: 'Authenticated domain and From domain',
    },
    fromLabel: 'From',
    fromDomain: fromDomain === null ? null : oneLine(fromDomain, 255),
    rows,
    outcome: {
      mechanism: 'DMARC',
      result: { ...authState(dmarc.result), badge: true },
      domain: [fromDomain ? code(fromDomain, 255) : 'From names no one domain'],
      below: recordWords(dmarc),
    },
    alt: inWords(rows, fromDomain),
  };
  const blocks: Block[] = [alignment];
  if (ignored > 0)
    blocks.push(
      small(
        `${ignored} more DKIM ${ignored === 1 ? 'signature was' : 'signatures were'} not looked at.`,
      ),
    );
  return {
    kind: 'section',
    id: 'authentication',
    title: TITLE,
    note: [
      'DMARC passes where SPF or a DKIM signature passes for a domain that belongs to the one in From: that is alignment.',
    ],
    blocks,
  };
}

/** For a terminal: three words. */
export const shortAuthentication = (result: Reported): Section => ({
  kind: 'section',
  id: 'authentication',
  title: TITLE,
  note: null,
  blocks: [authStates(result)],
});

function recordWords({ record, policy, at }: ReturnType<typeof authenticationOf>['dmarc']): Text {
  if (!record) return ['No record that applies is known.'];
  const from = `Policy ${oneLine(policy ?? 'unknown', 20)}, from `;
  return [from, code(at ?? '', 255), ': ', code(record, 500)];
}

function rowOf(identifier: Identifier): AlignmentRow {
  const { mechanism, result, domain, notes } = identifier;
  return {
    mechanism,
    result: { ...authState(result), badge: true },
    domain: domain === null ? null : oneLine(domain, 255),
    none: 'no domain',
    joint: domain === null ? null : joint(identifier),
    notes: notes.map((note) => oneLine(note, 500)).join(' · '),
  };
}

/** A domain that was not authenticated counts for nothing, aligned or not. */
function joint({ aligned, result }: Identifier): StateSpan {
  if (aligned === null) return badge('unknown', 'not compared');
  if (!aligned) return badge('fail', 'not aligned');
  return result === 'pass'
    ? badge('pass', 'aligned')
    : badge('unknown', 'aligned, not authenticated');
}

function inWords(rows: AlignmentRow[], fromDomain: string | null): string {
  if (fromDomain === null) return '';
  const sentences = rows.flatMap(({ mechanism, result, domain, joint: at }) =>
    domain === null || at === null
      ? []
      : [`${mechanism} ${result.word} for ${domain}, with ${fromDomain}: ${at.word}.`],
  );
  return oneLine(sentences.join(' '), 1000);
}
