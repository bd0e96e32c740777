/** What Google and Microsoft publish about the mail of a domain. */

import { RECEIVER_NAMES, type ReceiverId } from '../config/receivers.ts';
import { dayBefore } from '../feedback/sums.ts';
import { isoTime } from '../lib/clock.ts';
import type { Days } from '../receivers/queries.ts';
import { type Finding, notKnown, reportOf, type SourceReport, sectionOf } from './findings.ts';
import { gmailFindings } from './gmail.ts';
import { outlookFindings } from './outlook.ts';
import type { Reading } from './reading.ts';

/** Google’s days are late, so the latest ones of two weeks decide. */
const DAYS = 14;

export interface ReceiverReading extends Reading, Days {}

export async function receiversReport(reading: Reading): Promise<SourceReport> {
  const to = isoTime(reading.clock.now()).slice(0, 10);
  const period = { ...reading, from: dayBefore(to, DAYS - 1), to };
  const path = sectionOf(reading.domain.id, 'gmail');
  const has = (id: ReceiverId) => reading.config.RECEIVERS.some(({ receiver }) => receiver === id);
  const google = has('google_postmaster') ? await gmailFindings(period) : [];
  const microsoft = has('microsoft_snds') ? await outlookFindings(period) : [];
  const findings = [...google, ...microsoft];
  if (!has('google_postmaster') && !has('microsoft_snds'))
    return reportOf(
      {
        ...{ source: 'receivers', state: 'not_set_up', at: null, path },
        text: 'Google Postmaster Tools and Microsoft SNDS are not set up.',
      },
      [],
    );
  const isKnown = findings.length > 0 && findings.every(({ state }) => state !== 'unknown');
  const days = findings.flatMap(({ at }) => at?.slice(0, 10) ?? []).toSorted();
  return reportOf(
    {
      ...{ source: 'receivers', state: isKnown ? 'pass' : 'unknown', path },
      text: textOf(findings),
      at: days.at(-1) ?? null,
      basis: [...new Set(findings.map(({ origin }) => origin))].join(', ') || null,
    },
    findings,
  );
}

/** What is not known comes first: it is why the line is grey. */
function textOf(findings: Finding[]): string {
  const [first] = findings.toSorted(
    (a, b) => Number(b.state === 'unknown') - Number(a.state === 'unknown'),
  );
  return first?.text ?? 'Nothing is published about the addresses of this domain.';
}

/** Why nothing is known. */
export const nothingKnown = (
  receiver: ReceiverId,
  topic: Finding['topic'],
  { text, path }: { text: string; path: string },
): Finding =>
  notKnown({
    ...{ source: 'receivers', origin: RECEIVER_NAMES[receiver], topic, text, at: null, path },
  });
