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
  const unknown = others.filter(({ state }) => state === 'unknown');
  const fine = others.filter(({ state }) => state !== 'unknown');
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
          paragraph(inWords({ troubled, unknown, fine })),
          ...notes,
          ...(omitted > 0
            ? [small(`${formatCount(omitted, 'more domain')} not shown: too many for one page.`)]
            : []),
        ],
      },
      ...(troubled.length > 0
        ? [section('problems', 'Needs attention', troubled.map(foldOf))]
        : []),
      ...(unknown.length > 0
        ? [
            section('unknown', 'Not known yet', [
              tableOf('Domains whose state is unknown', unknown),
            ]),
          ]
        : []),
      ...(fine.length > 0
        ? [
            section('others', 'No known problems', [
              tableOf('Domains without known problems', fine),
            ]),
          ]
        : []),
    ],
    footer: [],
    truncationNote: 'This list is too long for the PDF. Open the link in a browser for all of it.',
    navigation: { skip: 'Skip to overview', contents: 'Sections' },
  });
}

interface Groups {
  troubled: DomainStatus[];
  unknown: DomainStatus[];
  fine: DomainStatus[];
}

/** What is not known is neither a problem nor fine. */
function inWords({ troubled, unknown, fine }: Groups): string {
  const count = troubled.length + unknown.length + fine.length;
  if (count === 0) return 'No domains to show at the moment.';
  const need = troubled.length === 1 ? 'needs' : 'need';
  return [
    troubled.length > 0 &&
      `${formatCount(troubled.length)} of ${formatCount(count, 'domain')} ${need} attention.`,
    troubled.length === 0 &&
      fine.length > 0 &&
      `No known problems with ${formatCount(fine.length, 'domain')}.`,
    unknown.length > 0 && `The state of ${formatCount(unknown.length, 'domain')} is not known yet.`,
  ]
    .filter(Boolean)
    .join(' ');
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

const tableOf = (label: string, domains: DomainStatus[]): Block => ({
  kind: 'table',
  name: 'domains',
  label,
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
