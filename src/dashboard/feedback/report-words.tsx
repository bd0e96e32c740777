/** How the pages name the types and states of reports. */

import type { ListedReport } from '../../feedback/schemas/report.ts';
import { STATUSES } from '../../feedback/status.ts';
import { StateMark } from '../../ui/components.tsx';

const TYPE_WORDS: Record<string, string> = {
  dmarc: 'DMARC',
  dmarc_failure: 'DMARC failure',
  tls: 'TLS',
  complaint: 'Complaint',
  bounce: 'Bounce',
};

export const StatusMark = ({ status }: Pick<ListedReport, 'status'>) => (
  <StateMark {...STATUSES[status]} />
);

export const typeWord = ({ type }: Pick<ListedReport, 'type'>): string =>
  type === null ? 'Unknown' : TYPE_WORDS[type]!;

/** Who sent it, if that is known. Without evidence, the name in the report is only a claim. */
export const senderOf = ({ reporter, label }: Pick<ListedReport, 'reporter' | 'label'>): string =>
  reporter !== null
    ? `from ${reporter}`
    : label !== null
      ? `in the name of ${label}`
      : 'from an unknown reporter';

/** Such as "DMARC report from google.com". */
export const titleOf = (report: Pick<ListedReport, 'type' | 'reporter' | 'label'>): string =>
  `${typeWord(report)} report ${senderOf(report)}`;
