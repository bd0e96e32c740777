/** What Google and Microsoft publish about the mail of a domain. */

import type { ReceiverId } from '../config/receivers.ts';
import { isoTime } from '../lib/clock.ts';
import { type Finding, reportOf, type SourceReport, sectionOf } from './findings.ts';
import { gmailFindings } from './gmail.ts';
import { outlookFindings } from './outlook.ts';
import type { Reading } from './reading.ts';
import { requirementFindings } from './requirements.ts';

export async function receiversReport(reading: Reading): Promise<SourceReport> {
  const { domain, config, clock } = reading;
  const today = isoTime(clock.now()).slice(0, 10);
  const has = (id: ReceiverId) => config.RECEIVERS.some(({ receiver }) => receiver === id);
  const [hasGoogle, hasMicrosoft] = [has('google_postmaster'), has('microsoft_snds')];
  const section = {
    source: 'receivers' as const,
    path: sectionOf(domain.id, hasMicrosoft && !hasGoogle ? 'outlook' : 'gmail'),
  };
  if (!hasGoogle && !hasMicrosoft)
    return reportOf(
      {
        ...section,
        state: 'not_set_up',
        at: null,
        text: 'Google Postmaster Tools and Microsoft SNDS are not set up.',
      },
      [],
    );
  const gmail = hasGoogle ? await gmailFindings(reading, today) : [];
  const requirements = hasGoogle ? await requirementFindings(reading) : [];
  const outlook = hasMicrosoft ? await outlookFindings(reading, today) : [];
  const findings = [...gmail, ...requirements, ...outlook];
  // The first about Gmail is about the spam rate. Single requirements and addresses may be unknown.
  const open = [gmail.slice(0, 1), requirements, outlook].find(isUnknown)?.[0];
  const known = findings.filter(({ state }) => state !== 'unknown');
  const [first] = known;
  return reportOf(
    {
      ...section,
      state: first && !open ? 'pass' : 'unknown',
      text: open?.text ?? first?.text ?? NO_ADDRESSES,
      at:
        known
          .flatMap(({ at }) => at?.slice(0, 10) ?? [])
          .toSorted()
          .at(-1) ?? null,
      basis: [...new Set(known.map(({ origin }) => origin))].join(', ') || null,
    },
    findings,
  );
}

const isUnknown = (findings: Finding[]): boolean =>
  findings.length > 0 && findings.every(({ state }) => state === 'unknown');

const NO_ADDRESSES = 'Microsoft publishes nothing about the addresses that send for this domain.';
