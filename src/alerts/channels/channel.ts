/** How a channel of alert rules is declared: its settings, whether it can deliver, and what it sends. */

import type * as v from 'valibot';
import type { App } from '../../app.ts';
import type { Tx } from '../../store/open.ts';
import type { AlertNotificationRow, AlertRow } from '../../store/tables.generated.ts';
import type { IncidentEvent, Notification } from '../alert-text.ts';

/**
 * Each channel has its own file, and a line in `index.ts` with its id. The API, the form and the audit log follow from the
 * declaration. Texts for people may have `code` and [links](/path).
 */
export interface Channel {
  /** For people: "Email". */
  name: string;
  /** Below its option in the form: what it does, or how to configure it while it cannot deliver. */
  hints: { configured: string; unconfigured: string };
  /** What a rule stores for it. */
  fields: ChannelField[];
  /** Why nothing is sent if it is not configured, and how to configure it, if not in the rule; follows "not sent: ". */
  unconfigured?: string;
  /** What is wrong with its settings together when a rule changes them. */
  check?(app: ChannelContext, rule: AlertRow): { param: string; message: string } | null;
  /** By default, whether there is a URL to post to. */
  isConfigured?(app: ChannelContext, rule: AlertRow, hasWebhookEndpoint: boolean): boolean;
  /** For a service on the web: notifications are queued, and then posted there. */
  post?: PostedChannel;
  /** The notifications about an event, if the channel is configured. Without it, one that is posted. */
  queue?(tx: Tx, app: App, event: IncidentEvent): Promise<NewNotification[]>;
}

export interface PostedChannel {
  /** Where to; null if the rule has no usable URL, token or address. */
  url(app: ChannelContext, rule: AlertRow): string | null;
  /**
   * What to post. Names and subjects come from outside. `opening` is what the service calls its message about the same
   * incident, if it has posted one there.
   */
  message(
    notification: Notification,
    app: ChannelContext,
    rule: AlertRow,
    opening: string | null,
  ): ChannelMessage;
  /** What a wrong answer means; by default, every status but 2xx is retried. */
  answers?: ServiceAnswers;
  /** Whether the service keeps its own incident open, so that it must also learn of ends of which nobody is notified. */
  tracksIncidents?: true;
  /** The setting that the service can replace: the chat has another ID now. */
  movable?: ChannelField;
}

export interface ChannelMessage {
  /** An object is sent as JSON. */
  body: object | string;
  /** Names in lower case. */
  headers?: Record<string, string>;
  /** By default, POST. */
  method?: 'POST' | 'PUT' | 'PATCH';
  /** Instead of that of the channel, if it depends on the notification. */
  url?: string;
  /** What follows once this one was accepted, such as a change of an earlier message. `isRequired`: both are sent again if it fails. */
  next?: { method: 'POST' | 'PATCH'; url: string; body: object; isRequired?: true };
}

export interface ServiceAnswers {
  /**
   * Reads the JSON of a 2xx response, and returns what the service calls the message, if it can be edited or answered.
   * A response that does not match did not come from the service.
   */
  accepted?: v.GenericSchema<unknown, string | null>;
  /**
   * What no retry changes if the service says what the problem is, and what to do about it: by the code of the service, or
   * by status. A 2xx status here means that nothing was delivered.
   */
  refusals: Record<number | string, string>;
  /** In the same way, what may be over soon. */
  delays?: Record<number | string, string>;
  /** Reads what the service says about a problem: from JSON, or from text. */
  problem: v.GenericSchema<unknown, Problem>;
}

interface Problem {
  text: string;
  /** What the service calls it. */
  code?: string;
  /** In how many seconds it accepts messages again. */
  retryAfter?: number | undefined;
  /** The new ID of the chat: see `movable`. */
  movedTo?: string | undefined;
}

/** A setting of a rule, with all words about it. */
export interface ChannelField {
  /** In the API and the form, such as `slack_webhook_url`. That of a secret URL ends with `_url`. */
  name: string;
  /** `addresses`: the recipients of the rule. `lines`: text of several lines. */
  kind: 'url' | 'text' | 'lines' | 'addresses';
  /** The only values of a text; the first is the default. */
  choices?: readonly string[];
  /** Encrypted and never shown again, except for the host of a URL. */
  isSecret: boolean;
  label: string;
  /** Names it in messages, after "the"; by default its label. */
  noun?: string;
  hint: string;
  placeholder?: string;
  /** What the value looks like. */
  format?: { pattern: RegExp; message: string };
  /** For a secret: the field with the server that gets it. Whoever changes the server must enter the secret again. */
  sentTo?: string;
  /** What removing it does, for a secret. */
  removal?: string;
  /** The description in the API, by default the label and the hint; and an example. */
  documentation?: string;
  example: string;
}

export type ChannelContext = Pick<App, 'config' | 'mailer' | 'secrets'>;

export type NewNotification = Partial<AlertNotificationRow> & Pick<AlertNotificationRow, 'status'>;
