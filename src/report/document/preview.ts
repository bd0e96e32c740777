/** The message as its readers see it: in the inbox, in email clients, as plain text, and read aloud. */

import {
  type Block,
  code,
  type Fold,
  type Glance,
  type InboxBlock,
  jump,
  muted,
  nameSpan,
  oneLine,
  type PreviewBlock,
  type PreviewClientPane,
  paragraph,
  type Row,
  type Section,
  small,
  type Table,
  verbatimText,
} from '../blocks.ts';
import type { AccessibilityView } from '../preview/accessibility.ts';
import type { InboxLine } from '../preview/inbox-line.ts';
import type { ClientPreview, MessagePreview, RemoteImages } from '../preview/message-preview.ts';
import type { ShownText, TextParagraph } from '../preview/plain-text.ts';
import type { RemovedFeature } from '../preview/removed-features.ts';
import type { Report } from '../report.ts';
import type { ReportVariant } from './variant.ts';

/** Only on pages; none without the message, or if the report must not show it. */
export function previewSections(report: Report, { medium }: ReportVariant): Section[] {
  const { preview } = report;
  if (preview === null || medium !== 'page') return [];
  return [
    {
      kind: 'section',
      id: 'preview',
      title: 'As recipients see it',
      note: [APPROXIMATION],
      fold: {
        open: false,
        count: `${preview.inbox.lines.length} inboxes, ${preview.clients.length} email clients`,
        ...(preview.inbox.warnings.length > 0 ? { state: 'warn' as const } : {}),
      },
      blocks: [...inboxBlocks(preview), ...clientBlocks(report, preview), ...otherViews(preview)],
    },
  ];
}

const APPROXIMATION = 'An approximation: clients change, and readers set them up differently.';

/** The client and the list whose message fits beside the verdict. */
const GLANCE = { client: 'gmail_app', list: 'Gmail app' } as const;
const MAX_GLANCE_LINES = 24;

/** Beside the verdict; null without the message, or if the report must not show it. */
export function glanceOf({ preview }: Report): Glance | null {
  if (preview === null) return null;
  const inbox = inboxBlock(preview, ({ list }) => list === GLANCE.list);
  const client = preview.clients.find(({ client: { id } }) => id === GLANCE.client);
  const [frame] = client ? paneOf(client).frames.filter(({ theme }) => theme === 'light') : [];
  return {
    title: GLANCE.list,
    inbox: { ...inbox, lists: inbox.lists.map((list) => ({ ...list, note: '' })) },
    body:
      client && frame
        ? { frame, width: client.client.width, tooLong: TOO_LONG }
        : { lines: (preview.text?.paragraphs ?? []).slice(0, MAX_GLANCE_LINES).map(lineOf) },
    more: [jump('All email clients', CLIENTS_HEADING.id), '. An approximation.'],
  };
}

const heading = (text: string): Block => ({ kind: 'heading', rank: 3, text: [text] });

const CLIENTS_HEADING = {
  ...heading('In email clients'),
  id: 'email-clients',
} satisfies Block & { id: string };

const THEMES = { light: 'Light', dark: 'Dark' };

// The line in the inbox.

const inboxBlocks = (preview: MessagePreview): Block[] => [
  heading('In the inbox'),
  ...warningNotes(preview),
  inboxBlock(preview, () => true),
];

const inboxBlock = (
  preview: MessagePreview,
  isShown: (line: InboxLine) => boolean,
): InboxBlock => ({
  kind: 'inbox',
  themes: THEMES,
  logo: preview.logo,
  lists: preview.inbox.lines.filter(isShown).map((line) => ({
    name: line.list,
    layout: line.sharesLine ? 'row' : 'stack',
    initials: line.initials,
    sender: line.sender.shown,
    subject: line.subject.shown,
    preview: line.preview.shown,
    previewLines: line.previewLines,
    width: line.width,
    note: `${cutSentence(line)} ${line.basis}`,
  })),
});

const warningNotes = ({ inbox }: MessagePreview): Block[] =>
  inbox.warnings.map((warning) => ({ kind: 'note', state: 'warn', text: [oneLine(warning)] }));

function cutSentence({ list, sender, subject, preview }: InboxLine): string {
  const cut = [
    ...(sender.isCut ? ['the sender'] : []),
    ...(subject.isCut ? ['the subject'] : []),
    ...(preview.isCut ? ['the preview text'] : []),
  ];
  if (cut.length === 0) return 'Everything fits.';
  const last = cut.pop()!;
  return `${list} cuts ${cut.length === 0 ? last : `${cut.join(', ')} and ${last}`}.`;
}

// Email clients.

function clientBlocks(report: Report, preview: MessagePreview): Block[] {
  const { clients, images } = preview;
  if (clients.length === 0) return [CLIENTS_HEADING, paragraph(muted('The message has no HTML.'))];
  const block: PreviewBlock = {
    kind: 'preview',
    switches: { client: 'Email client', theme: 'Theme', images: 'Images' },
    themes: THEMES,
    images: hasSwitch(clients) ? { on: 'Shown', off: 'Off' } : null,
    clients: clients.map((client) => paneOf(client)),
    tooLong: TOO_LONG,
  };
  return [
    CLIENTS_HEADING,
    small(
      'The data on what each client removes is from Can I email. Scripts, links and forms do not work here.',
    ),
    ...imageBlocks(report, images),
    block,
  ];
}

const TOO_LONG =
  'The message is too long for this file. Open the report in the application to see this view.';

const hasSwitch = (clients: ClientPreview[]): boolean =>
  new Set(clients.flatMap(({ frames }) => frames.map(({ images }) => images))).size > 1;

function paneOf({ client, frames, ...rest }: ClientPreview): PreviewClientPane {
  return {
    id: client.id,
    name: client.name,
    width: client.width,
    frames: frames.map(({ theme, images, source }) => ({
      theme,
      images,
      source,
      title: `The message in ${client.name === 'As sent' ? 'a browser' : client.name}, ${theme} theme${images === 'on' ? ', with images' : ''}`,
    })),
    blocks: [small(client.darkModeBasis), ...differences({ client, ...rest })],
  };
}

function differences(preview: Omit<ClientPreview, 'frames'>): Block[] {
  const { client, removed, undrawn, clippedAtLine, truncated } = preview;
  const clip: Block[] =
    clippedAtLine === null
      ? []
      : [
          {
            kind: 'note',
            state: 'warn',
            text: [
              `${client.name} clips the message at line ${clippedAtLine.toLocaleString('en')} of its HTML. It shows a link to the rest.`,
            ],
          },
        ];
  const cut = truncated ? [small('The HTML is too long to show in full.')] : [];
  const notes = [...clip, ...cut, ...(undrawn ? [undrawnNote(client.name, undrawn)] : [])];
  if (client.tableName === null) return notes;
  // Features that nobody tested, and those that a client supports in part, are not in the list.
  if (removed.length === 0)
    return [...notes, small(`The message uses nothing that ${client.name} is known to lack.`)];
  const count = removed.length === 1 ? '1 feature' : `${removed.length} features`;
  return [...notes, removedFold(`Not supported in ${client.name}`, count, removed)];
}

function undrawnNote(client: string, { places, count }: RemovedFeature): Block {
  const lines = places.map(({ line }) => line.toLocaleString('en')).join(', ');
  const which =
    count === 1
      ? `the VML shape at line ${lines}`
      : `VML shapes at lines ${lines}${count > places.length ? ' and others' : ''}`;
  return small(`${client} draws ${which}. This preview shows them as boxes or not at all.`);
}

const removedFold = (title: string, count: string, removed: RemovedFeature[]): Fold => ({
  kind: 'fold',
  title,
  state: null,
  count,
  open: false,
  style: 'plain',
  blocks: [
    {
      kind: 'table',
      name: 'plain',
      label: title,
      columns: [
        { title: 'Feature', share: 30 },
        { title: 'Line in the HTML', share: 46 },
        { title: 'Supported by', share: 24 },
      ],
      groups: [{ title: null, rows: removed.map(removedRow) }],
      foot: [],
    },
  ],
});

function removedRow({ title, url, places, count, support }: RemovedFeature): Row {
  const more = count - places.length;
  return {
    cells: [
      { text: [{ kind: 'link', text: oneLine(title), url }] },
      {
        text: [],
        blocks: [
          ...places.map(({ line, text }) =>
            paragraph(
              `${line.toLocaleString('en')}${text === '' ? '' : ': '}`,
              ...(text === '' ? [] : [code(text, 120)]),
            ),
          ),
          ...(more > 0 ? [small(`… and ${more.toLocaleString('en')} more`)] : []),
        ],
      },
      { text: [supportText(support)] },
    ],
  };
}

function supportText(support: RemovedFeature['support']): string {
  if (support === null) return 'Not tested';
  const partly = support.partial > 0 ? `, partly by ${support.partial}%` : '';
  return `${support.full}% of tested clients${partly}`;
}

// Images.

function imageBlocks({ imagesForm }: Report, images: RemoteImages): Block[] {
  const { count, trackingPixels, loaded } = images;
  const pixels =
    trackingPixels === 0
      ? []
      : [
          trackingPixels === 1
            ? 'A tracking pixel is marked and never loaded.'
            : `${trackingPixels} tracking pixels are marked and never loaded.`,
        ];
  if (count === 0) return pixels.length === 0 ? [] : [small(...pixels)];
  if (loaded === null) {
    const blocked =
      count === 1 ? '1 remote image is not loaded.' : `${count} remote images are not loaded.`;
    const sentence = [blocked, ...pixels].join(' ');
    if (imagesForm === undefined) return [small(sentence)];
    return [
      {
        kind: 'choice',
        action: imagesForm,
        field: 'back',
        text: [
          `${sentence} The service loads them once and keeps them with the test. The sender’s web servers see the requests.`,
        ],
        options: [{ value: 'test', label: 'Load images' }],
      },
    ];
  }
  return [
    small([`${loaded.count} of ${count} remote images were loaded.`, ...pixels].join(' ')),
    ...(loaded.failed.length === 0 ? [] : [failedImages(loaded.failed)]),
  ];
}

const MAX_FAILED = 60;

const sentence = (clause: string): string => `${clause.charAt(0).toUpperCase()}${clause.slice(1)}.`;

const failedImages = (failed: { url: string; reason: string }[]): Fold => ({
  kind: 'fold',
  id: 'failed-images',
  title: 'Images that could not be loaded',
  state: 'warn',
  count: String(failed.length),
  open: false,
  style: 'card',
  blocks: [
    {
      kind: 'table',
      name: 'plain',
      label: 'Images that could not be loaded',
      columns: [
        { title: 'URL', share: 55, style: 'code' },
        { title: 'Reason', share: 45 },
      ],
      groups: [
        {
          title: null,
          rows: failed.slice(0, MAX_FAILED).map(({ url, reason }) => ({
            cells: [{ text: [code(url, 500)] }, { text: [sentence(oneLine(reason, 300))] }],
          })),
        },
      ],
      foot: [],
    },
  ],
});

// Text and accessibility.

function otherViews({ text, accessibility }: MessagePreview): Block[] {
  return [
    ...(text === null ? [] : [textFold(text)]),
    ...(accessibility === null ? [] : [accessibilityFold(accessibility)]),
  ];
}

function textFold({ paragraphs, notes, truncated }: ShownText): Fold {
  return {
    kind: 'fold',
    id: 'text-client',
    title: 'In a text client',
    state: null,
    count: null,
    open: false,
    style: 'card',
    blocks: [
      ...notes.map((note) => small(oneLine(note))),
      {
        kind: 'verbatim',
        label: 'The message in a text client',
        lines: paragraphs.map(lineOf),
        style: 'long',
        truncationNote: null,
      },
      ...(truncated ? [small('Only the start of the text is shown.')] : []),
    ],
  };
}

const lineOf = ({ quoteDepth, spans }: TextParagraph): string =>
  verbatimText(
    `${'> '.repeat(quoteDepth)}${spans.map(({ text }) => text).join('')}`,
    MAX_PARAGRAPH,
  );

const MAX_PARAGRAPH = 20_000;

function accessibilityFold(view: AccessibilityView): Fold {
  const { language, problems, items, contrast, decorativeImages, truncated } = view;
  const { enough, tooLow, unknown } = contrast;
  const count = problems.length;
  return {
    kind: 'fold',
    id: 'read-aloud',
    title: 'Read aloud',
    state: count > 0 ? 'warn' : null,
    count: count === 0 ? null : count === 1 ? '1 problem' : `${count} problems`,
    open: false,
    style: 'card',
    blocks: [
      {
        kind: 'facts',
        style: 'small',
        rows: [
          {
            name: ['Language'],
            value: [language === null ? muted('not declared') : code(language, 40)],
          },
          {
            name: ['Text contrast'],
            value: [
              percentages([
                ['high enough', enough],
                ['too low', tooLow],
                ['unknown', unknown],
              ]),
            ],
          },
          { name: ['Decorative images (empty alt text)'], value: [String(decorativeImages)] },
        ],
      },
      ...(count > 0 ? [problemTable(problems)] : []),
      ...(items.length > 0 ? [readingTable(items)] : []),
      ...(truncated ? [small('The HTML is too long to read in full.')] : []),
    ],
  };
}

/** `98% high enough, 2% unknown`. */
function percentages(parts: [string, number][]): string {
  const total = parts.reduce((sum, [, count]) => sum + count, 0);
  if (total === 0) return 'no text';
  return parts
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${Math.max(1, Math.round((count / total) * 100))}% ${name}`)
    .join(', ');
}

const problemTable = (problems: AccessibilityView['problems']): Table => ({
  kind: 'table',
  name: 'plain',
  label: 'Problems',
  columns: [
    { title: 'Line', share: 8 },
    { title: 'Problem', share: 52 },
    { title: 'Where', share: 40 },
  ],
  groups: [
    {
      title: null,
      rows: problems.map(({ line, detail, text }) => ({
        cells: [
          { text: [line.toLocaleString('en')] },
          { text: [oneLine(detail, 500)] },
          { text: [text === '' ? muted('–') : nameSpan(text, 200)] },
        ],
      })),
    },
  ],
  foot: [],
});

const MAX_READ = 300;

function readingTable(items: AccessibilityView['items']): Table {
  return {
    kind: 'table',
    name: 'plain',
    label: 'What a screen reader reads',
    columns: [
      { title: 'Line', share: 8 },
      { title: 'Kind', share: 20 },
      { title: 'What a screen reader reads', share: 72 },
    ],
    groups: [
      {
        title: null,
        rows: items.slice(0, MAX_READ).map((item) => ({
          cells: [
            { text: [item.line.toLocaleString('en')] },
            { text: [kindOf(item)] },
            { text: [nameSpan(item.text, 500)] },
          ],
        })),
      },
    ],
    foot: [],
  };
}

function kindOf({ kind, headingLevel, link }: AccessibilityView['items'][number]): string {
  const words = [
    ...(headingLevel === null ? [] : [`Heading ${headingLevel}`]),
    ...(link === null ? [] : ['link']),
    ...(kind === 'text' && (headingLevel !== null || link !== null) ? [] : [KINDS[kind]]),
  ].join(', ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const KINDS = {
  text: 'text',
  image: 'image',
  file_name: 'image, by its file name',
  table: 'table',
  end_of_table: 'end of table',
  list: 'list',
  end_of_list: 'end of list',
};
