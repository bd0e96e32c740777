/** What the parts of the feedback on a domain have in common: the period, the frame, and links to its reports. */

import { type DomainFeedback, feedbackOf } from '../../domains/feedback/state.ts';
import { findDomain } from '../../domains/queries.ts';
import { AppError } from '../../lib/errors.ts';
import { dayInWords } from '../../lib/format/times.ts';
import { readableDomain } from '../../lib/readable-domain.ts';
import type { PageCall } from '../frame/app-page.tsx';
import { pathWith } from '../frame/table.tsx';
import { FEEDBACK, feedbackPath, REPORTS } from './list.tsx';
import { type ChosenPeriod, chosenPeriod, inPeriod } from './period.tsx';

interface PartCall extends Pick<PageCall, 'app'> {
  params: Record<string, string>;
  query: ChosenPeriod['query'];
}

export interface DomainPart {
  id: string;
  domain: string;
  feedback: DomainFeedback;
  period: ChosenPeriod;
  /** What the API is asked. */
  asked: { domain_id: string; from: string; to: string };
  path: string;
  frame: {
    title: string;
    section: 'feedback';
    path: string;
    parents: { href: string; text: string }[];
  };
}

/** Throws `not_found`. */
export async function domainPart(
  { app, params, query }: PartCall,
  { name, title }: { name: string; title: string },
): Promise<DomainPart> {
  const id = params.id!;
  const domain = await findDomain(app.db, id);
  if (!domain) throw new AppError('not_found', 'No such domain.');
  const period = chosenPeriod(app, query);
  const path = `${feedbackPath(id)}/${name}`;
  const readable = readableDomain(domain.name);
  return {
    id,
    period,
    path,
    domain: domain.name,
    feedback: await feedbackOf(app, app.db, domain),
    asked: { domain_id: id, from: period.from, to: period.to },
    frame: {
      title: `${title} ${readable}`,
      section: 'feedback',
      path: inPeriod(path, period),
      parents: [
        { href: FEEDBACK, text: 'Feedback' },
        { href: feedbackPath(id), text: readable },
      ],
    },
  };
}

/** Such as "1 Nov 2026 to 30 Nov 2026 (UTC)". */
export const periodInWords = ({ from, to }: { from: string; to: string }): string =>
  `${dayInWords(from)} to ${dayInWords(to)} (UTC)`;

interface ReportFilters {
  domain_id: string;
  type: 'dmarc' | 'tls';
  day?: string;
  reporter?: string;
}

/** The list of the reports that a figure is made of. */
export const reportsPath = (filters: ReportFilters): string =>
  pathWith(REPORTS, { ...filters, status: 'counted' });
