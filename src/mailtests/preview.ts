/** The operations that return the message of a test as its recipients see it. */

import * as v from 'valibot';
import type { App } from '../app.ts';
import { PRIVATE_HEADERS } from '../http/response.ts';
import { route } from '../http/route.ts';
import { described, idOf, named, Text, typeField } from '../http/schemas.ts';
import { AppError } from '../lib/errors.ts';
import { PREVIEW_CLIENTS, type PreviewClientId } from '../report/preview/clients.ts';
import {
  IMAGE_STATES,
  PREVIEW_THEMES,
  type PreviewChoice,
} from '../report/preview/message-preview.ts';
import type { PreviewJson } from '../report/preview/preview-json.ts';
import type { Rendered, StoredMessage } from '../report/report.ts';
import { testOr404 } from './queries.ts';
import { storedMessage } from './report.ts';

const TEST_ID = idOf('test', 'The ID of the test.');

const CLIENT_IDS = PREVIEW_CLIENTS.map(({ id }) => id) as [PreviewClientId, ...PreviewClientId[]];

// The schema of the preview, without its frames.

const InboxListLine = named(
  'InboxListLine',
  v.object({
    list: described(v.string(), 'The email client.'),
    sender: described(v.string(), 'The sender as the list shows it.'),
    sender_cut: described(v.boolean(), 'Whether the sender is cut.'),
    subject: described(v.string(), 'The subject as the list shows it.'),
    subject_cut: described(v.boolean(), 'Whether the subject is cut.'),
    preview: described(v.string(), 'The preview text as the list shows it.'),
    preview_cut: described(v.boolean(), 'Whether the preview text is cut.'),
    basis: described(v.string(), 'What the widths rest on.'),
  }),
  'The line of the message in the list of an email client.',
  {
    list: 'Gmail app',
    sender: 'Example Shop',
    sender_cut: false,
    subject: 'Your order 1042 is on its way',
    subject_cut: false,
    preview: 'It should arrive on Thursday. Track your…',
    preview_cut: true,
    basis: 'Estimate for a phone 390 pixels wide.',
  },
);

const FeaturePlace = named(
  'FeaturePlace',
  v.object({
    line: described(v.number(), 'The line in the decoded HTML part, from 1.', 31),
    text: described(v.string(), 'What the line has there.', 'border-radius: 8px'),
  }),
  'Where the message uses a feature.',
);

const RemovedFeature = named(
  'RemovedFeature',
  v.object({
    feature: described(
      v.string(),
      'The name of the feature at caniemail.com, or of a rule of the client.',
    ),
    title: described(v.string(), 'The feature in words.'),
    url: described(v.string(), 'Where the feature and its support are described.'),
    count: described(v.number(), 'How often the message uses it.'),
    places: described(v.array(FeaturePlace), 'The first places.'),
    missing_in: described(v.array(v.string()), 'The clients that lack the feature.'),
    support_full: described(
      v.nullable(v.number()),
      'Percent of the tested clients that support the feature. Null if it was not tested.',
    ),
    support_partial: described(
      v.nullable(v.number()),
      'Percent of the tested clients that support the feature in part. Null if it was not tested.',
    ),
  }),
  'A feature of HTML or CSS that an email client removes from the message.',
  {
    feature: 'css-border-radius',
    title: 'border-radius',
    url: 'https://www.caniemail.com/features/css-border-radius/',
    count: 2,
    places: [{ line: 31, text: 'border-radius: 8px' }],
    missing_in: ['Outlook for Windows'],
    support_full: 87,
    support_partial: 3,
  },
);

const ClientPreview = named(
  'ClientPreview',
  v.object({
    client: described(v.picklist(CLIENT_IDS), 'The email client.'),
    name: v.string(),
    width: described(v.number(), 'The width of the message in pixels.'),
    dark_mode: described(
      v.picklist(['none', 'partial', 'full']),
      'What the client does in its dark theme: keeps the colors, inverts light backgrounds and dark text, or inverts all colors.',
    ),
    clipped_at_line: described(
      v.nullable(v.number()),
      'The line of the HTML at which the client clips the message. Null if it shows all.',
      1840,
    ),
    truncated: described(v.boolean(), 'Whether the HTML was too long to read in full.'),
    removed: described(v.array(RemovedFeature), 'What the client removes.'),
    undrawn: described(
      v.nullable(RemovedFeature),
      'The VML shapes that Outlook for Windows draws and this preview does not, or only as boxes. Null without any.',
    ),
  }),
  'What an email client does to the message.',
  {
    client: 'gmail',
    name: 'Gmail',
    width: 860,
    dark_mode: 'none',
    clipped_at_line: null,
    truncated: false,
    removed: [],
    undrawn: null,
  },
);

const AccessibilityProblem = named(
  'AccessibilityProblem',
  v.object({
    line: described(v.number(), 'The line in the decoded HTML part, from 1.'),
    kind: described(v.string(), 'The kind of problem.'),
    text: described(v.string(), 'The text that it is about.'),
    detail: described(v.string(), 'The problem as a sentence.'),
  }),
  'What keeps people from reading the message.',
  {
    line: 12,
    kind: 'contrast',
    text: 'Unsubscribe',
    detail: 'The contrast of #999999 on #ffffff is 2.8:1, below 4.5:1. #767676 would be enough.',
  },
);

const InboxPreview = named(
  'InboxPreview',
  v.object({
    preview_source: described(
      v.picklist(['preheader', 'text', 'alt', 'text_part', 'none']),
      'Where the preview text comes from.',
    ),
    warnings: described(v.array(v.string()), 'What is probably not meant, as sentences.', []),
    lists: described(v.array(InboxListLine), 'The line of the message in each list.'),
  }),
  'The message in the lists of email clients.',
);

const TextContrast = named(
  'TextContrast',
  v.object({
    enough: described(v.number(), 'Characters with enough contrast.', 1240),
    too_low: described(v.number(), 'Characters with too little contrast.', 11),
    unknown: described(v.number(), 'Characters whose contrast cannot be determined.', 60),
  }),
  'The characters of visible text by their contrast.',
);

const Accessibility = named(
  'Accessibility',
  v.object({
    language: described(Text, 'The declared language. Null if none is.', 'en'),
    contrast: described(TextContrast, 'How much of the text has enough contrast.'),
    problems: described(v.array(AccessibilityProblem), 'The problems by line.'),
    truncated: described(v.boolean(), 'Whether the HTML was too long to read in full.'),
  }),
  'How a screen reader reads the message.',
);

const TestPreview = named(
  'TestPreview',
  v.object({
    object: typeField('test_preview'),
    inbox: described(InboxPreview, 'The message in the lists of email clients.'),
    clients: described(v.array(ClientPreview), 'Empty if the message has no HTML.'),
    text_notes: described(
      v.array(v.string()),
      'What text clients show differently from what was meant, as sentences.',
      [],
    ),
    accessibility: described(
      v.nullable(Accessibility),
      'How a screen reader reads the message. Null if it has no HTML.',
    ),
  }),
  'The message of a test as its recipients see it.',
);

// The operations.

export const preview = route({
  method: 'GET',
  path: '/v1/tests/:id/preview',
  params: { id: TEST_ID },
  operation: 'getTestPreview',
  limited: true,
  role: 'viewer',
  summary: 'Get the preview of a message',
  description:
    'Returns the line of the message in the inbox, what each email client removes, and how accessible the message is. An approximation: clients change, and readers set them up differently.',
  response: TestPreview,
  errors: ['conflict', 'unavailable'],
  async handle({ app, actor, params, signal }) {
    const { bytes } = await renderPreview(app, {
      id: (await testOr404(app, params.id!, actor.livemode)).id,
      choice: null,
      signal,
    });
    return JSON.parse(new TextDecoder().decode(bytes)) as PreviewJson;
  },
});

const FrameQuery = v.strictObject({
  client: described(v.optional(v.picklist(CLIENT_IDS), 'as_sent'), 'The email client.'),
  theme: described(v.optional(v.picklist(PREVIEW_THEMES), 'light'), 'The theme of the client.'),
  images: described(
    v.optional(v.picklist(IMAGE_STATES), 'off'),
    'Whether remote images are shown. Only images that the service has loaded can be shown.',
  ),
});

export const previewPage = route({
  method: 'GET',
  path: '/v1/tests/:id/preview.html',
  params: { id: TEST_ID },
  operation: 'getTestPreviewPage',
  limited: true,
  role: 'viewer',
  summary: 'Get a message as an email client shows it',
  description:
    'Returns the HTML of the message as an HTML page without scripts, links, forms and remote content. Without an HTML part, the page is empty.',
  query: FrameQuery,
  produces: ['text/html'],
  errors: ['conflict', 'unavailable'],
  async handle({ app, actor, params, query, signal }) {
    const { id } = await testOr404(app, params.id!, actor.livemode);
    const { bytes, policy } = await renderPreview(app, { id, choice: query, signal });
    return new Response(bytes as Uint8Array<ArrayBuffer>, {
      headers: {
        'content-type': 'text/html; charset=utf-8',
        'content-length': String(bytes.byteLength),
        'content-security-policy': policy!,
        // The page of the report shows it in a frame.
        'x-frame-options': 'SAMEORIGIN',
        ...PRIVATE_HEADERS,
      },
    });
  },
});

interface PreviewRequest {
  id: string;
  choice: PreviewChoice | null;
  signal: AbortSignal;
}

function renderPreview(app: App, { id, choice, signal }: PreviewRequest): Promise<Rendered> {
  const message = async (): Promise<StoredMessage> => {
    const stored = await storedMessage(app, id, true);
    if (stored === null) throw new AppError('conflict', NO_MESSAGE);
    return stored;
  };
  return app.reportRenderer.render({ kind: 'preview', choice, message, signal });
}

const NO_MESSAGE = 'The test has no message: it was not received or has been deleted.';
