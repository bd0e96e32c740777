/** The services that alert rules post to, as their documentation describes them: each validates what arrives and keeps it. */

import * as v from 'valibot';
import type { Received, Reply } from '../../helpers/receiver.ts';

/** What people see there. */
export interface Shown {
  text: string;
  /** Where its links lead. */
  links: string[];
  /** What joins messages about one incident: a thread, the message that it answers, or the key of an alert. */
  joins: string | null;
  /** Whether the service changed it later, or has closed it. */
  state: 'new' | 'changed' | 'closed';
}

export interface Service {
  /** What a rule needs, for a server at this origin. */
  settings(origin: string): Record<string, string>;
  /** What must be secret in them. */
  secrets: string[];
  respond(request: Pick<Received, 'method' | 'path' | 'headers' | 'body'>): Reply;
  shown: Shown[];
  /** How it answers a revoked secret, and too many messages. */
  revoked: Reply;
  throttled(seconds: number): Reply;
}

export interface ChatService extends Service {
  /** What people must do about a revoked secret, on the page of the rule. */
  advice: RegExp;
}

const json = (status: number, body: unknown, headers: Record<string, string> = {}): Reply => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
});

const text = (max: number) => v.pipe(v.string(), v.nonEmpty(), v.maxLength(max));
const Url = v.pipe(v.string(), v.url(), v.startsWith('http'), v.maxLength(2048));

/** Throws with all problems if the body does not match. */
function parse<T>(schema: v.GenericSchema<unknown, T>, body: string): T {
  const result = v.safeParse(schema, JSON.parse(body));
  if (!result.success)
    throw new Error(
      result.issues.map((issue) => `${v.getDotPath(issue)}: ${issue.message}`).join('; '),
    );
  return result.output;
}

// Microsoft Teams: an adaptive card (schema 1.4) in the envelope of a webhook request to a workflow.

const Run = v.strictObject({
  type: v.literal('TextRun'),
  text: text(10_000),
  weight: v.optional(v.picklist(['lighter', 'default', 'bolder'])),
  size: v.optional(v.picklist(['small', 'default', 'medium', 'large', 'extraLarge'])),
  fontType: v.optional(v.picklist(['default', 'monospace'])),
  isSubtle: v.optional(v.boolean()),
});
const RichText = v.strictObject({
  type: v.literal('RichTextBlock'),
  inlines: v.pipe(v.array(Run), v.minLength(1)),
  spacing: v.optional(
    v.picklist(['default', 'none', 'small', 'medium', 'large', 'extraLarge', 'padding']),
  ),
});
const Container = v.strictObject({
  type: v.literal('Container'),
  style: v.optional(v.picklist(['default', 'emphasis', 'good', 'attention', 'warning', 'accent'])),
  bleed: v.optional(v.boolean()),
  items: v.array(RichText),
});
const AdaptiveCard = v.strictObject({
  $schema: v.literal('http://adaptivecards.io/schemas/adaptive-card.json'),
  type: v.literal('AdaptiveCard'),
  version: v.picklist(['1.4', '1.5']),
  msteams: v.optional(v.strictObject({ width: v.literal('Full') })),
  fallbackText: v.optional(v.string()),
  speak: v.optional(v.string()),
  body: v.array(v.variant('type', [RichText, Container])),
  actions: v.optional(
    v.array(v.strictObject({ type: v.literal('Action.OpenUrl'), title: text(100), url: Url })),
  ),
});
const TeamsMessage = v.strictObject({
  type: v.literal('message'),
  attachments: v.tuple([
    v.strictObject({
      contentType: v.literal('application/vnd.microsoft.card.adaptive'),
      contentUrl: v.null(),
      content: AdaptiveCard,
    }),
  ]),
});

export function teamsService(): ChatService {
  const shown: Shown[] = [];
  const path = '/powerautomate/workflows/very-secret-flow/triggers/manual/paths/invoke';
  return {
    shown,
    secrets: ['very-secret-flow', 'very-secret-signature'],
    settings: (origin) => ({
      teams_webhook_url: `${origin}${path}?api-version=1&sig=very-secret-signature`,
    }),
    respond({ method, path: target, body }) {
      if (method !== 'POST' || !target.startsWith(path)) return { status: 404 };
      // Of the 28 KB, some is needed for what the workflow adds.
      if (Buffer.byteLength(body) > 20_480) return { status: 413 };
      const [{ content }] = parse(TeamsMessage, body).attachments;
      const blocks = content.body.flatMap((block) =>
        block.type === 'Container' ? block.items : [block],
      );
      const lines = blocks.map(({ inlines }) => inlines.map((run) => run.text).join(''));
      shown.push({
        text: lines.join('\n'),
        links: content.actions?.map(({ url }) => url) ?? [],
        joins: null,
        state: 'new',
      });
      return { status: 202 };
    },
    advice: /Status 404: the workflow was deleted or turned off.*The workflow could not be found/s,
    revoked: json(404, {
      error: { code: 'WorkflowNotFound', message: 'The workflow could not be found.' },
    }),
    throttled: (seconds) => ({ status: 429, headers: { 'retry-after': String(seconds) } }),
  };
}

// Discord: “Execute Webhook” and “Edit Webhook Message”.

const Embed = v.strictObject({
  title: v.optional(text(256)),
  url: v.optional(Url),
  description: v.optional(text(4096)),
  color: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(0xffffff))),
});
const DiscordMessage = v.strictObject({
  content: v.optional(text(2000)),
  allowed_mentions: v.strictObject({ parse: v.tuple([]) }),
  embeds: v.pipe(
    v.array(Embed),
    v.minLength(1),
    v.maxLength(10),
    v.check(
      (embeds) =>
        embeds.reduce(
          (sum, { title = '', description = '' }) => sum + title.length + description.length,
          0,
        ) <= 6000,
      'embeds have more than 6,000 characters',
    ),
  ),
});

/** Markdown as Discord shows it: a backslash shows the character after it; what else formats must be ours. */
export function readDiscord(markdown: string): string {
  const parts = markdown.split(/(```[\s\S]*?```)/);
  return parts
    .map((part) => {
      if (part.startsWith('```')) return part.slice(3, -3);
      const unescaped = part.replace(/\\([^0-9A-Za-z\s])/g, (_, character: string) =>
        String.fromCodePoint(0xe000 + character.codePointAt(0)!),
      );
      const plain = unescaped.replace(/\*\*([^*\n]*)\*\*/g, '$1');
      const formatted = /[*_~`<>|\\]|\]\(|^#{1,3} |^[-+*] |@|https?:\/\//m.exec(plain);
      if (formatted) throw new Error(`Discord formats “${formatted[0]}” in ${plain}`);
      return plain.replace(/[\ue000-\ue07f]/g, (character) =>
        String.fromCodePoint(character.codePointAt(0)! - 0xe000),
      );
    })
    .join('');
}

export function discordService(): ChatService {
  const shown: Shown[] = [];
  const path = '/api/webhooks/100000000000000001/very-secret-token';
  return {
    shown,
    secrets: ['very-secret-token'],
    settings: (origin) => ({ discord_webhook_url: `${origin}${path}` }),
    respond({ method, path: target, body }) {
      const url = new URL(target, 'https://discord.example');
      if (!url.pathname.startsWith(path)) return this.revoked;
      const { embeds } = parse(DiscordMessage, body);
      const [{ title, description, url: link }] = embeds as [(typeof embeds)[0]];
      const text = `${readDiscord(title!)}\n${readDiscord(description!)}`;
      const message: Shown = { text, links: link ? [link] : [], joins: null, state: 'new' };
      const edited = /\/messages\/(\d+)$/.exec(url.pathname);
      if (method === 'PATCH' && edited) {
        const index = Number(edited[1]) - 1;
        if (!shown[index]) return json(404, { message: 'Unknown Message', code: 10008 });
        shown[index] = { ...message, state: 'changed' };
        return json(200, { id: edited[1] });
      }
      if (method !== 'POST' || url.pathname !== path) return json(405, {});
      shown.push(message);
      return url.searchParams.get('wait') === 'true'
        ? json(200, { id: String(shown.length), type: 0, content: '' })
        : { status: 204 };
    },
    advice: /Status 404: the webhook was deleted; create another.*Unknown Webhook/s,
    revoked: json(404, { message: 'Unknown Webhook', code: 10015 }),
    throttled: (seconds) =>
      json(
        429,
        { message: 'You are being rate limited.', retry_after: seconds, global: false },
        { 'retry-after': String(seconds) },
      ),
  };
}

// Google Chat: `spaces.messages.create` with cards of version 2.

const Widget = v.union([
  v.strictObject({ textParagraph: v.strictObject({ text: text(4096) }) }),
  v.strictObject({
    decoratedText: v.strictObject({
      topLabel: v.optional(v.string()),
      text: text(4096),
      wrapText: v.optional(v.boolean()),
    }),
  }),
  v.strictObject({
    buttonList: v.strictObject({
      buttons: v.array(
        v.strictObject({
          text: text(200),
          onClick: v.strictObject({ openLink: v.strictObject({ url: Url }) }),
        }),
      ),
    }),
  }),
]);
const GoogleChatMessage = v.strictObject({
  text: v.optional(text(4096)),
  cardsV2: v.array(
    v.strictObject({
      cardId: text(200),
      card: v.strictObject({
        sections: v.array(
          v.strictObject({
            header: v.optional(v.string()),
            widgets: v.pipe(v.array(Widget), v.minLength(1), v.maxLength(100)),
          }),
        ),
      }),
    }),
  ),
  thread: v.optional(v.strictObject({ threadKey: text(4000) })),
});

/** HTML of cards: only line breaks are ours. */
function readCardText(html: string): string {
  const rest = html.replaceAll('<br>', '\n');
  if (/[<>]/.test(rest)) throw new Error(`Google Chat formats ${rest}`);
  return rest;
}

export function googleChatService(): ChatService {
  const shown: Shown[] = [];
  const path = '/v1/spaces/AAAA0000/messages';
  return {
    shown,
    secrets: ['very-secret-key', 'very-secret-token'],
    settings: (origin) => ({
      google_chat_webhook_url: `${origin}${path}?key=very-secret-key&token=very-secret-token`,
    }),
    respond({ method, path: target, body }) {
      const url = new URL(target, 'https://chat.example');
      if (method !== 'POST' || url.pathname !== path) return { status: 404 };
      if (url.searchParams.get('token') !== 'very-secret-token') return this.revoked;
      if (Buffer.byteLength(body) > 32_000) return { status: 400 };
      const { text = '', cardsV2, thread } = parse(GoogleChatMessage, body);
      if (/[*_~`<>]/.test(text)) throw new Error(`Google Chat formats ${text}`);
      const sections = cardsV2.flatMap(({ card }) => card.sections);
      const widgets = sections.flatMap((section) => section.widgets);
      const lines = widgets.flatMap((widget) => {
        if ('textParagraph' in widget) return readCardText(widget.textParagraph.text);
        if ('buttonList' in widget) return [];
        const { topLabel = '', text } = widget.decoratedText;
        return readCardText(`${topLabel}: ${text}`);
      });
      const links = widgets.flatMap((widget) =>
        'buttonList' in widget
          ? widget.buttonList.buttons.map(({ onClick }) => onClick.openLink.url)
          : [],
      );
      const threaded =
        url.searchParams.get('messageReplyOption') === 'REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD';
      shown.push({
        text: [text, ...lines].join('\n'),
        links,
        state: 'new',
        joins: threaded ? (thread?.threadKey ?? null) : null,
      });
      return json(200, { name: `spaces/AAAA0000/messages/${shown.length}`, thread: {} });
    },
    advice: /Status 403: Google Chat does not let the webhook post.*does not have permission/s,
    revoked: json(403, {
      error: {
        code: 403,
        status: 'PERMISSION_DENIED',
        message: 'The caller does not have permission',
      },
    }),
    throttled: (seconds) =>
      json(
        429,
        {
          error: {
            code: 429,
            message: 'Resource has been exhausted',
            status: 'RESOURCE_EXHAUSTED',
          },
        },
        { 'retry-after': String(seconds) },
      ),
  };
}

// Telegram: `sendMessage` of the Bot API.

const TelegramMessage = v.strictObject({
  chat_id: v.pipe(v.string(), v.regex(/^(?:-?\d+|@\w+)$/)),
  text: v.pipe(v.string(), v.nonEmpty()),
  parse_mode: v.literal('HTML'),
  link_preview_options: v.strictObject({ is_disabled: v.literal(true) }),
  reply_parameters: v.optional(
    v.strictObject({
      message_id: v.pipe(v.number(), v.integer()),
      allow_sending_without_reply: v.boolean(),
    }),
  ),
});

/** The text without its tags, as the Bot API parses HTML. What Telegram would link by itself must be in code. */
export function readTelegram(html: string): { text: string; links: string[] } {
  const links: string[] = [];
  const open: string[] = [];
  let outside = '';
  const shown = html
    .split(/(<[^>]*>)/)
    .map((part) => {
      const tag = /^<(\/?)(b|code|pre|a)(?: href="([^"<>]*)")?>$/.exec(part);
      if (tag) {
        if (tag[1] === '' ? false : open.pop() !== tag[2]) throw new Error(`unbalanced ${part}`);
        if (tag[1] === '') open.push(tag[2]!);
        if (tag[3] !== undefined) links.push(decode(tag[3]));
        return '';
      }
      if (/[<>]/.test(part)) throw new Error(`unsupported tag in ${part}`);
      const text = decode(part);
      if (!open.some((name) => name !== 'b')) outside += text;
      return text;
    })
    .join('');
  if (open.length > 0) throw new Error(`unclosed ${open.join()}`);
  const linked = /[@#]|:\/\/|(?<!\S)\/\w/.exec(outside);
  if (linked) throw new Error(`Telegram links “${linked[0]}” in ${outside}`);
  return { text: shown, links };
}

function decode(html: string): string {
  const unknown = /&(?!(?:lt|gt|amp|quot|#\d+|#x[0-9a-f]+);)/i.exec(html);
  if (unknown) throw new Error(`unsupported entity in ${html}`);
  return html
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&');
}

export function telegramService(): ChatService {
  const shown: Shown[] = [];
  return {
    shown,
    secrets: ['123456789:very-secret-token'],
    settings: (origin) => ({
      telegram_bot_token: '123456789:very-secret-token',
      telegram_chat_id: '-1001234567890',
      telegram_server_url: `${origin}/`,
    }),
    respond({ method, path, body }) {
      if (path !== '/bot123456789:very-secret-token/sendMessage' || method !== 'POST')
        return this.revoked;
      const { text: html, reply_parameters: reply } = parse(TelegramMessage, body);
      const { text, links } = readTelegram(html);
      if (text.length > 4096)
        return json(400, {
          ok: false,
          error_code: 400,
          description: 'Bad Request: message is too long',
        });
      const answered = reply && shown[reply.message_id - 1] ? String(reply.message_id) : null;
      shown.push({ text, links, joins: answered, state: 'new' });
      return json(200, {
        ok: true,
        result: { message_id: shown.length, date: 0, chat: { id: -1001234567890 } },
      });
    },
    advice: /Status 401: the bot token is invalid; copy it again.*Unauthorized/s,
    revoked: json(401, { ok: false, error_code: 401, description: 'Unauthorized' }),
    throttled: (seconds) =>
      json(429, {
        ok: false,
        error_code: 429,
        parameters: { retry_after: seconds },
        description: `Too Many Requests: retry after ${seconds}`,
      }),
  };
}

// ntfy: “Publish as JSON”.

const NtfyMessage = v.strictObject({
  topic: v.pipe(v.string(), v.regex(/^[-_A-Za-z0-9]{1,64}$/)),
  title: v.optional(text(1000)),
  message: v.pipe(
    v.string(),
    v.nonEmpty(),
    v.check((message) => Buffer.byteLength(message) <= 4096, 'becomes a file above 4,096 bytes'),
  ),
  priority: v.optional(v.picklist([1, 2, 3, 4, 5])),
  tags: v.optional(v.array(v.string())),
  click: v.optional(Url),
  actions: v.optional(
    v.pipe(
      v.array(v.strictObject({ action: v.literal('view'), label: text(100), url: Url })),
      v.maxLength(3),
    ),
  ),
  sequence_id: v.optional(v.pipe(v.string(), v.regex(/^[-_A-Za-z0-9]{1,64}$/))),
});

export function ntfyService(): ChatService {
  const shown: Shown[] = [];
  return {
    shown,
    secrets: ['very-secret-topic', 'tk_very_secret_token'],
    settings: (origin) => ({
      ntfy_server_url: `${origin}/`,
      ntfy_topic: 'very-secret-topic',
      ntfy_token: 'tk_very_secret_token',
    }),
    respond({ method, path, headers, body }) {
      if (method !== 'POST' || path !== '/')
        return json(404, { code: 40401, error: 'page not found' });
      if (headers.authorization !== 'Bearer tk_very_secret_token') return this.revoked;
      const { title = '', message, click, sequence_id = null, topic } = parse(NtfyMessage, body);
      if (topic !== 'very-secret-topic') return json(403, { code: 40301, error: 'forbidden' });
      shown.push({
        text: `${title}\n${message}`,
        links: click ? [click] : [],
        joins: sequence_id,
        state: 'new',
      });
      return json(200, { id: `m${shown.length}`, time: 0, event: 'message', topic, message });
    },
    advice: /Status 401: the ntfy server rejected the access token.*unauthorized/s,
    revoked: json(401, {
      code: 40101,
      http: 401,
      error: 'unauthorized',
      link: 'https://ntfy.sh/docs/publish/',
    }),
    throttled: (seconds) =>
      json(
        429,
        { code: 42901, http: 429, error: 'limit reached: too many requests' },
        { 'retry-after': String(seconds) },
      ),
  };
}

// PagerDuty: Events API v2.

const Details = v.record(v.string(), v.union([v.string(), v.array(v.string())]));
const Target = {
  routing_key: v.pipe(v.string(), v.length(32)),
  dedup_key: text(255),
};
const PagerDutyEvent = v.variant('event_action', [
  v.strictObject({
    ...Target,
    event_action: v.literal('trigger'),
    client: v.optional(v.string()),
    client_url: v.optional(Url),
    links: v.optional(v.array(v.strictObject({ href: Url, text: v.string() }))),
    payload: v.strictObject({
      summary: text(1024),
      source: text(1024),
      severity: v.picklist(['critical', 'error', 'warning', 'info']),
      component: v.optional(v.string()),
      custom_details: v.optional(Details),
    }),
  }),
  v.strictObject({ ...Target, event_action: v.literal('resolve') }),
]);

export function pagerDutyService(): ChatService {
  const shown: Shown[] = [];
  const key = 'verysecretroutingkey000000000000';
  return {
    shown,
    secrets: [key],
    settings: (origin) => ({ pagerduty_routing_key: key, pagerduty_server_url: `${origin}/` }),
    respond({ method, path, body }) {
      if (method !== 'POST' || path !== '/v2/enqueue') return { status: 404 };
      if (Buffer.byteLength(body) > 512 * 1024) return { status: 413 };
      const event = parse(PagerDutyEvent, body);
      if (event.routing_key !== key) return this.revoked;
      const { dedup_key } = event;
      const index = shown.findIndex(
        ({ joins, state }) => joins === dedup_key && state !== 'closed',
      );
      const known = shown[index];
      if (event.event_action === 'resolve') {
        if (known) shown[index] = { ...known, state: 'closed' };
      } else {
        const { summary, custom_details = {} } = event.payload;
        const text = [summary, ...Object.values(custom_details).flat()].join('\n');
        const links = event.links?.map(({ href }) => href) ?? [];
        if (known) shown[index] = { ...known, text, links, state: 'changed' };
        else shown.push({ text, links, joins: dedup_key, state: 'new' });
      }
      return json(202, { status: 'success', message: 'Event processed', dedup_key });
    },
    advice:
      /Status 400: PagerDuty rejected the event; check the integration key.*Invalid routing key: …/s,
    revoked: json(400, {
      status: 'invalid event',
      message: 'Event object is invalid',
      errors: [`Invalid routing key: ${key}`],
    }),
    throttled: () =>
      json(429, {
        status: 'throttle exceeded',
        message: 'Requests for this service are arriving too quickly',
      }),
  };
}

// Mattermost and Rocket.Chat: incoming webhooks in Slack's form, of which they show the text as Markdown.

/** `blocks` and all else are ignored, as in the source code of both. */
export function slackCompatibleService(maxLength: number): Service {
  const shown: Shown[] = [];
  return {
    shown,
    secrets: ['very-secret-hook'],
    settings: (origin) => ({ slack_webhook_url: `${origin}/hooks/very-secret-hook` }),
    respond({ method, path, body }) {
      if (method !== 'POST' || path !== '/hooks/very-secret-hook') return this.revoked;
      const { text } = v.parse(v.object({ text: v.string() }), JSON.parse(body));
      if (text === '' || text.length > maxLength) return { status: 400 };
      const links = [...text.matchAll(/(?<!\S)https?:\/\/\S+/g)].map(([link]) => link);
      shown.push({ text, links, joins: null, state: 'new' });
      return { body: 'ok' };
    },
    revoked: json(400, {
      id: 'web.incoming_webhook.invalid.app_error',
      message: 'Invalid webhook.',
    }),
    throttled: (seconds) => ({ status: 429, headers: { 'retry-after': String(seconds) } }),
  };
}

// Apprise API: `POST /notify/{key}` with JSON (github.com/caronc/apprise-api, apprise_api/api/views.py and forms.py).

const AppriseMessage = v.strictObject({
  // In code points.
  title: v.pipe(
    v.string(),
    v.check((title) => [...title].length <= 250, 'the title is too long'),
  ),
  body: text(32_768),
  type: v.picklist(['info', 'success', 'warning', 'failure']),
  format: v.picklist(['text', 'markdown', 'html']),
  tag: v.optional(v.pipe(v.string(), v.regex(/^[\w.-]+(?:[, ]+[\w.-]+)*$/))),
  urls: v.optional(v.union([v.string(), v.array(v.string())])),
});

/** Without a key, it is stateless: the URLs are in the request. */
export function appriseService({ isStateless = false } = {}): ChatService {
  const shown: Shown[] = [];
  const login = 'alerts:very-secret-password';
  return {
    shown,
    secrets: isStateless
      ? ['very-secret-push-token', login]
      : ['very-secret-key', login, 'very-secret-password'],
    settings: (origin) => ({
      apprise_server_url: `${origin}/apprise/`,
      apprise_login: login,
      ...(isStateless
        ? { apprise_urls: 'gotifys://push.example/very-secret-push-token\nntfys://ntfy.example/x' }
        : { apprise_key: 'very-secret-key', apprise_tag: 'mail-team, ops' }),
    }),
    respond({ method, path, headers, body }) {
      const error = (status: number, message: string): Reply =>
        headers.accept?.includes('json')
          ? json(status, { error: message })
          : { status, headers: { 'content-type': 'text/plain' }, body: message };
      const [, key] = /^\/apprise\/notify(?:\/([\w-]{1,128}))?$/.exec(path) ?? [null];
      if (key === null) return { status: 404, body: '<html>Not Found</html>' };
      if (method !== 'POST') return error(405, 'Method Not Allowed');
      if (headers.authorization !== `Basic ${btoa(login)}`) return this.revoked;
      if (!/^application\/json\b/.test(headers['content-type'] ?? ''))
        return error(400, 'Bad FORM Payload provided');
      const message = parse(AppriseMessage, body);
      if (key !== undefined && key !== 'very-secret-key') return { status: 204 };
      if (key === undefined && [message.urls ?? []].flat().length === 0) return { status: 204 };
      const links = [...message.body.matchAll(/^(?:Open|View)[^:\n]*: (https?:\/\/\S+)$/gm)];
      shown.push({
        text: `${message.title}\n${message.body}`,
        links: links.map(([, link]) => link!),
        joins: null,
        state: 'new',
      });
      return json(200, { error: null, details: [] });
    },
    advice: /Status 401: Apprise requires a user and password, or rejects them.*Access Denied/s,
    revoked: json(401, { error: 'Access Denied' }, { 'www-authenticate': 'Basic realm="Apprise"' }),
    throttled: (seconds) => ({ status: 429, headers: { 'retry-after': String(seconds) } }),
  };
}

// Any service behind a custom webhook: this one has incidents of its own, and takes the token in the body.

const CustomMessage = v.strictObject({
  token: v.literal('very-secret-value'),
  title: v.string(),
  message: v.string(),
  status: v.picklist(['triggered', 'reminder', 'resolved', 'sample']),
  key: text(255),
  url: v.string(),
});

export function customService(): Service {
  const shown: Shown[] = [];
  return {
    shown,
    secrets: ['very-secret-path', 'very-secret-header', 'very-secret-value'],
    settings: (origin) => ({
      custom_url: `${origin}/very-secret-path/{{incident_id}}?as={{status}}`,
      custom_headers: 'X-Token: very-secret-header\nX-Team: Mail & more',
      custom_secret: 'very-secret-value',
      custom_body: `{"token": "{{secret}}", "title": "{{title}}", "message": "{{ message }}",
        "status": "{{status}}", "key": "{{incident_id}}", "url": "{{url}}"}`,
    }),
    respond({ method, path, headers, body }) {
      if (method !== 'POST') return json(405, { error: 'Method Not Allowed' });
      if (headers['x-token'] !== 'very-secret-header' || headers['x-team'] !== 'Mail & more')
        return this.revoked;
      if (!/^application\/json\b/.test(headers['content-type'] ?? '')) return json(415, {});
      const { title, message, status, key, url } = parse(CustomMessage, body);
      if (path !== `/very-secret-path/${key}?as=${status}`) return json(404, {});
      const index = shown.findIndex(({ joins, state }) => joins === key && state !== 'closed');
      const text = `${title}\n${message}`;
      const links = url === '' ? [] : [url];
      if (status === 'resolved') shown[index] = { text, links, joins: key, state: 'closed' };
      else if (index === -1) shown.push({ text, links, joins: key, state: 'new' });
      else shown[index] = { text, links, joins: key, state: 'changed' };
      return { status: 204 };
    },
    revoked: json(403, { message: 'bad token very-secret-header' }),
    throttled: (seconds) => ({ status: 429, headers: { 'retry-after': String(seconds) } }),
  };
}

export const SERVICES = {
  teams: teamsService,
  discord: discordService,
  google_chat: googleChatService,
  telegram: telegramService,
  ntfy: ntfyService,
  pagerduty: pagerDutyService,
  apprise: appriseService,
};
