/** The document of a status page: the state of each domain, what is wrong, and what to do. */

import { formatShare } from '../../figures/mail-shares.ts';
import { formatCount } from '../../lib/format/numbers.ts';
import { bothForms } from '../../lib/readable-domain.ts';
import {
  type Block,
  type Fact,
  type Fold,
  oneLine,
  paragraph,
  type ReportDocument,
  type StateSpan,
  sanitize,
  small,
  state,
  time,
} from '../blocks.ts';
import type { DomainStatus, StoredStatus } from '../status.ts';
import { section } from './figures.ts';

const WORDS = { fail: 'Problem', warn: 'Warning', unknown: 'Unknown', pass: 'OK' } as const;

const stateOf = (of: DomainStatus['state']): StateSpan => state(of, WORDS[of]);

/** For people outside the team. `notes` say how long the link works. */
export function statusDocument(
  status: StoredStatus,
  medium: 'page' | 'pdf',
  { title, time: createdAt, notes }: { title: string; time: string; notes: Block[] },
): ReportDocument {
  const { domains, omitted } = status;
  const troubled = domains.filter(({ problems }) => problems.length > 0);
  const others = domains.filter(({ problems }) => problems.length === 0);
  return sanitize({
    title: oneLine(title, 200),
    time: createdAt,
    blocks: [
      {
        kind: 'overview',
        id: 'overview',
        title: 'Overview',
        above: medium === 'pdf' ? 'EMAIL STATUS' : null,
        blocks: [
          { kind: 'heading', rank: 1, text: [oneLine(title, 200)] },
          paragraph(inWords(domains.length, troubled.length)),
          ...notes,
          ...(omitted > 0
            ? [small(`${formatCount(omitted, 'more domain')} not shown: too many for one page.`)]
            : []),
        ],
      },
      ...(troubled.length > 0
        ? [section('problems', 'Needs attention', troubled.map(foldOf))]
        : []),
      ...(others.length > 0 ? [section('others', 'No known problems', [tableOf(others)])] : []),
    ],
    footer: [],
    truncationNote: 'This list is too long for the PDF. Open the link in a browser for all of it.',
    navigation: { skip: 'Skip to overview', contents: 'Sections' },
  });
}

function inWords(count: number, troubled: number): string {
  if (count === 0) return 'No domains to show at the moment.';
  if (troubled === 0) return `No known problems with ${formatCount(count, 'domain')}.`;
  const need = troubled === 1 ? 'needs' : 'need';
  return `${formatCount(troubled)} of ${formatCount(count, 'domain')} ${need} attention.`;
}

function foldOf(domain: DomainStatus, index: number): Fold {
  const steps = [...new Set(domain.problems.map(({ step }) => step))];
  const others = domain.problems.slice(1);
  return {
    kind: 'fold',
    style: 'card',
    id: `domain-${index + 1}`,
    title: oneLine(bothForms(domain.name), 255),
    state: domain.state,
    count: null,
    open: true,
    blocks: [
      paragraph(domain.headline),
      {
        kind: 'facts',
        rows: [
          ...(domain.since === null ? [] : [fact('Since', sinceOf(domain.since))]),
          ...others.map(({ title }) => fact('Also', title)),
          ...steps.map((step, at) => fact(at === 0 ? 'What to do' : 'Then', step)),
          fact('DMARC policy', domain.policy),
          fact('DMARC reports', passRate(domain)),
        ],
      },
    ],
  };
}

const fact = (name: string, value: Fact['value'][number]): Fact => ({
  name: [name],
  value: [value],
});

const sinceOf = (since: string): Fact['value'][number] => (since.length > 10 ? time(since) : since);

/** Of the messages that receivers reported in the last two weeks. */
function passRate({ messages, passed }: DomainStatus): string {
  if (messages === 0) return 'No reports yet';
  return `${formatShare(passed, messages)} of ${formatCount(messages, 'message')} passed`;
}

const tableOf = (domains: DomainStatus[]): Block => ({
  kind: 'table',
  name: 'domains',
  label: 'Domains without known problems',
  columns: [
    { title: 'Domain', share: 50 },
    { title: 'State', share: 20 },
    { title: 'DMARC', share: 30 },
  ],
  groups: [
    {
      title: null,
      rows: domains.map((domain) => ({
        cells: [
          { text: [oneLine(bothForms(domain.name), 255)], below: [domain.headline] },
          { text: [stateOf(domain.state)] },
          { text: [`Policy: ${domain.policy}`], below: [passRate(domain)] },
        ],
      })),
    },
  ],
  foot: [],
});
