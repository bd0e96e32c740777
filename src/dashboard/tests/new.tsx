/** New tests with options: a test address, or a message that is uploaded or pasted. */

import type { ComponentChildren } from 'preact';
import * as v from 'valibot';
import { findDomainIdByName, readDomainNames } from '../../domains/names.ts';
import { readFormParts, textField } from '../../http/multipart.ts';
import { MAX_TAGS } from '../../http/tags.ts';
import { normalizeDomain } from '../../lib/domain-names.ts';
import { formatSize } from '../../lib/durations.ts';
import { invalidParams } from '../../lib/errors.ts';
import { notAMessage } from '../../mailtests/message-file.ts';
import { findTest } from '../../mailtests/queries.ts';
import { testOperations } from '../../mailtests/routes.ts';
import type { KINDS } from '../../mailtests/schemas/kind.ts';
import { tagsOf } from '../../mailtests/tags.ts';
import { appPage, type PageCall } from '../frame/app-page.tsx';
import { Card } from '../frame/card.tsx';
import {
  Checkbox,
  type FormProblem,
  ProblemNotice,
  readForm,
  Select,
  submit,
  TextArea,
  TextField,
} from '../frame/form.tsx';
import { seeOther } from '../frame/page.tsx';
import { form, page } from '../frame/page-route.ts';
import { splitTags, tagLabels, tagsError } from '../frame/tags-field.tsx';
import { readSuggestions, SuggestionLists, TESTS_PATH } from './filters.tsx';
import { INBOXES_PATH } from './inboxes.tsx';
import { KIND_WORDS } from './kind-words.ts';

const PATH = '/tests/new';

type Kind = (typeof KINDS)[number];

const KIND_OPTIONS = Object.entries(KIND_WORDS) as [Kind, string][];

/** The address of an inbox. */
const NEVER = 'never';

const LIFETIMES: [seconds: string, text: string][] = [
  ['900', '15 minutes'],
  ['3600', '1 hour'],
  ['21600', '6 hours'],
  ['86400', '24 hours'],
  [NEVER, 'Never: each message becomes a new test'],
];

interface AddressValues {
  name: string;
  kind: string;
  tags: string;
  domain: string;
  expires_in: string;
  placement: boolean;
}

interface MessageValues {
  message_name: string;
  message_kind: string;
  message_tags: string;
  text: string;
  client_ip: string;
  helo: string;
  mail_from: string;
}

interface State {
  address?: Partial<AddressValues>;
  message?: Partial<MessageValues>;
  /** Which of the forms has the problem. */
  failed?: 'address' | 'message';
  problem?: FormProblem | null;
}

async function render(call: PageCall, state: State): Promise<Response> {
  const { app, actor } = call;
  const { address = {}, message = {}, failed, problem = null } = state;
  const problemOf = (name: 'address' | 'message') => (failed === name ? problem : null);
  return appPage(call, {
    title: 'New test',
    section: 'tests',
    path: PATH,
    parents: [{ href: TESTS_PATH, text: 'Tests' }],
    status: problem?.status,
    headers: problem?.headers,
    calls: [{ route: testOperations.create, body: { name: 'Newsletter', tags: ['release'] } }],
    children: (
      <>
        <div class="columns">
          <AddressForm
            values={address}
            problem={problemOf('address')}
            seeds={app.config.SEED_MAILBOXES.length}
          />
          <MessageForm
            values={message}
            problem={problemOf('message')}
            maxSize={app.config.SMTP_MAX_SIZE}
          />
        </div>
        <SuggestionLists {...(await readSuggestions(app.db, actor.livemode))} />
      </>
    ),
  });
}

const TAGS_HINT = `Up to ${MAX_TAGS}, separated by commas.`;

interface AddressFormProps {
  values: Partial<AddressValues>;
  problem: FormProblem | null;
  /** The number of seed mailboxes. */
  seeds: number;
}

function AddressForm({ values, problem, seeds }: AddressFormProps) {
  const errors = problem?.fields ?? {};
  return (
    <Card title="Send a message" id="send">
      <p>
        Get an address, and send one message to it as you send your real mail. For a pipeline or a
        newsletter tool, get an <a href={INBOXES_PATH}>inbox</a>: its address never expires.
      </p>
      <form method="post" action={PATH} class="fields">
        <ProblemNotice problem={problem} />
        <TextField
          name="name"
          label="Name"
          hint="Optional. Give tests the same name to compare them."
          value={values.name}
          error={errors.name}
        />
        <TextField
          name="tags"
          label="Tags"
          hint={TAGS_HINT}
          value={values.tags}
          error={problem ? tagsError(problem) : undefined}
          list="tag-names"
        />
        <Select
          name="kind"
          label="Kind of mail"
          options={KIND_OPTIONS}
          value={values.kind ?? 'auto'}
          error={errors.kind}
        />
        <TextField
          name="domain"
          label="Domain"
          hint="Optional. By default, the domain of your team that matches the From address."
          value={values.domain}
          error={errors.domain_id}
          list="domain-names"
        />
        <Select
          name="expires_in"
          label="Address expires after"
          options={LIFETIMES}
          value={values.expires_in ?? '3600'}
          error={errors.expires_in}
        />
        {seeds > 0 && (
          <Checkbox
            name="placement"
            label="Test inbox placement"
            hint={`You get the ${seeds === 1 ? 'address of the seed mailbox' : `addresses of ${seeds} seed mailboxes`} to send the same message to.`}
            checked={values.placement ?? false}
          />
        )}
        <button type="submit" class="button primary">
          Get a test address
        </button>
      </form>
    </Card>
  );
}

interface MessageFormProps {
  values: Partial<MessageValues>;
  problem: FormProblem | null;
  maxSize: number;
}

function MessageForm({ values, problem, maxSize }: MessageFormProps) {
  const errors = problem?.fields ?? {};
  return (
    <Card title="Upload or paste a message" id="upload">
      <p>Test a message without sending it.</p>
      <form
        method="post"
        action={PATH}
        enctype="multipart/form-data"
        class="fields"
        data-receipt={testOperations.receipt.path}
      >
        <ProblemNotice problem={problem} />
        <div class="field">
          <label for="file">Message file</label>
          <p id="file-hint" class="hint">
            An .eml file of up to {formatSize(maxSize)}.
          </p>
          {errors.file && (
            <p id="file-wrong" class="wrong">
              <span class="visually-hidden">Error: </span>
              {errors.file}
            </p>
          )}
          <input
            id="file"
            name="file"
            type="file"
            accept=".eml,message/rfc822"
            data-max-bytes={maxSize}
            data-too-large={`The file is larger than ${formatSize(maxSize)}. Choose a smaller one.`}
            aria-invalid={errors.file ? 'true' : undefined}
            aria-describedby={errors.file ? 'file-wrong file-hint' : 'file-hint'}
          />
        </div>
        <TextArea
          name="text"
          label="Or paste the source of the message"
          hint="Include all header fields. In Gmail, select “Show original”, then “Copy to clipboard”."
          value={values.text}
          error={errors.text}
          rows={6}
          mono
        />
        <div class="notice info" data-receipt-summary hidden>
          <svg class="icon" aria-hidden="true">
            <use href="#icon-info" />
          </svg>
          <p />
        </div>
        <Fold title="How it was sent" open={hasSession(values, problem)}>
          <TextField
            name="client_ip"
            label="Address of the sending server"
            hint="IPv4 or IPv6. If empty, the address in the message header is used. SPF, reverse DNS and blocklists need it."
            value={values.client_ip}
            error={errors.client_ip}
            placeholder="192.0.2.25"
          />
          <TextField
            name="helo"
            label="HELO name"
            value={values.helo}
            error={errors.helo}
            placeholder="mail.example.com"
          />
          <TextField
            name="mail_from"
            label="Envelope sender (MAIL FROM)"
            value={values.mail_from}
            error={errors.mail_from}
            placeholder="bounces@example.com"
          />
        </Fold>
        <Fold title="Name, tags and kind" open={hasLabels(values, problem)}>
          <TextField
            name="message_name"
            label="Name"
            value={values.message_name}
            error={errors.name}
          />
          <TextField
            name="message_tags"
            label="Tags"
            hint={TAGS_HINT}
            value={values.message_tags}
            error={problem ? tagsError(problem) : undefined}
            list="tag-names"
          />
          <Select
            name="message_kind"
            label="Kind of mail"
            options={KIND_OPTIONS}
            value={values.message_kind ?? 'auto'}
            error={errors.kind}
          />
        </Fold>
        <button type="submit" class="button primary">
          Test this message
        </button>
      </form>
    </Card>
  );
}

interface FoldProps {
  title: string;
  open: boolean;
  children: ComponentChildren;
}

function Fold({ title, open, children }: FoldProps) {
  return (
    <details class="fold" open={open}>
      <summary>
        <svg class="chevron" aria-hidden="true">
          <use href="#chevron" />
        </svg>
        {title}
      </summary>
      <div class="fields">{children}</div>
    </details>
  );
}

// Whether the folded fields contain something to see.

function hasSession(
  { client_ip, helo, mail_from }: Partial<MessageValues>,
  problem: FormProblem | null,
): boolean {
  const { fields } = problem ?? {};
  return Boolean(client_ip || helo || mail_from || fields?.client_ip);
}

function hasLabels(
  { message_name, message_tags, message_kind = 'auto' }: Partial<MessageValues>,
  problem: FormProblem | null,
): boolean {
  const isFilled = message_name || message_tags || message_kind !== 'auto';
  return Boolean(isFilled || problem?.fields.name || (problem && tagsError(problem)));
}

const show = page({
  path: PATH,
  operation: 'showNewTest',
  limited: true,
  role: 'member',
  summary: 'Show the forms for a new test',
  query: v.strictObject({
    like: v.optional(v.string()),
    expires_in: v.optional(v.string()),
    name: v.optional(v.string()),
    domain_id: v.optional(v.string()),
  }),
  async handle(call) {
    const { like, expires_in, name, domain_id } = call.query;
    const names = await readDomainNames(call.app.db, domain_id === undefined ? [] : [domain_id]);
    const domain = names.get(domain_id ?? '');
    const address = {
      ...(await optionsLike(call, like)),
      ...(expires_in ? { expires_in } : {}),
      ...(name ? { name } : {}),
      ...(domain === undefined ? {} : { domain }),
    };
    return render(call, { address });
  },
});

/** The options of another test; none if there is no such test. */
async function optionsLike(
  { app, actor }: PageCall,
  id: string | undefined,
): Promise<Partial<AddressValues>> {
  const row = id === undefined ? undefined : await findTest(app.db, id, actor.livemode);
  if (!row) return {};
  const names = await readDomainNames(app.db, row.domain_id === null ? [] : [row.domain_id]);
  return {
    name: row.name ?? '',
    kind: row.kind,
    tags: (await tagsOf(app.db, row.id)).join(', '),
    placement: row.placement_status !== 'none',
    domain: names.get(row.domain_id ?? '') ?? '',
  };
}

const LABELS = {
  name: 'name',
  kind: 'kind of mail',
  domain_id: 'domain',
  expires_in: 'time',
  placement: 'placement',
  client_ip: 'address',
  helo: 'HELO name',
  mail_from: 'envelope sender',
};

const labelsFor = (tags: string[]) => ({ ...LABELS, ...tagLabels(tags) });

const createAddress = form({
  path: PATH,
  operation: 'submitNewTest',
  limited: true,
  role: 'member',
  summary: 'Create a test with the form',
  async handle(call) {
    const field = readForm(call.raw);
    const address: AddressValues = {
      name: field('name'),
      kind: field('kind') || 'auto',
      tags: field('tags'),
      domain: field('domain'),
      expires_in: field('expires_in') || '3600',
      placement: field('placement') === 'on',
    };
    const tags = splitTags(address.tags);
    const { result, problem } = await submit(labelsFor(tags), async () =>
      call.invoke(testOperations.create, {
        body: {
          name: address.name.trim() === '' ? null : address.name,
          kind: address.kind as Kind,
          tags,
          ...(address.expires_in === NEVER
            ? { reusable: true }
            : { expires_in: Number(address.expires_in) }),
          placement: address.placement,
          domain_id: await findNamedDomain(call, address.domain),
        },
      }),
    );
    if (problem) return render(call, { address, failed: 'address', problem });
    const { id, object } = result;
    return seeOther(object === 'inbox' ? `${INBOXES_PATH}/${id}?done=created` : `/tests/${id}`);
  },
});

/** Throws `validation_failed` if the team has no such domain. */
async function findNamedDomain({ app }: PageCall, text: string): Promise<string | null> {
  if (text.trim() === '') return null;
  const name = normalizeDomain(text);
  const id = name === null ? undefined : await findDomainIdByName(app.db, name);
  if (id !== undefined) return id;
  const message = "is not one of your team's domains. Leave it empty, or add it first";
  throw invalidParams([{ param: 'domain_id', code: 'invalid', message }]);
}

/** A form with a longer text is shown without it. */
const MAX_KEPT_TEXT = 500_000;

const submitMessage = form({
  path: PATH,
  operation: 'submitNewMessage',
  limited: true,
  role: 'member',
  summary: 'Test a message that is uploaded or pasted',
  // The message and the other fields together.
  consumes: { type: 'multipart/form-data', maxBytes: ({ config }) => config.SMTP_MAX_SIZE },
  async handle(call) {
    const parts = readFormParts(call.raw, call.headers.get('content-type'));
    const field = (name: string) => textField(parts, name);
    const text = parts.get('text')?.bytes ?? EMPTY;
    const message: MessageValues = {
      message_name: field('message_name'),
      message_kind: field('message_kind') || 'auto',
      message_tags: field('message_tags'),
      text: text.byteLength > MAX_KEPT_TEXT ? '' : new TextDecoder().decode(text),
      client_ip: field('client_ip').trim(),
      helo: field('helo').trim(),
      mail_from: field('mail_from').trim(),
    };
    const file = parts.get('file')?.bytes ?? EMPTY;
    const isFile = file.byteLength > 0;
    const raw = isFile ? file : withoutBlankLines(text);
    const fault =
      raw.byteLength === 0
        ? 'Choose a file, or paste a message'
        : notAMessage(isFile ? 'The file' : 'The text', raw);
    if (fault !== null) {
      const fields = { [isFile || raw.byteLength === 0 ? 'file' : 'text']: `${fault}.` };
      const problem = { status: 422, notice: null, fields, headers: {} };
      return render(call, { message, failed: 'message', problem });
    }
    const tags = splitTags(message.message_tags);
    const { result, problem } = await submit(labelsFor(tags), () =>
      call.invoke(testOperations.submit, {
        raw,
        query: {
          name: message.message_name.trim() === '' ? undefined : message.message_name,
          kind: message.message_kind,
          tags: tags.join(','),
          client_ip: message.client_ip || undefined,
          helo: message.helo || undefined,
          mail_from: message.mail_from || undefined,
        },
      }),
    );
    if (problem) return render(call, { message, failed: 'message', problem });
    return seeOther(`/tests/${result.id}`);
  },
});

const EMPTY = new Uint8Array();

/** A pasted message often begins with blank lines, which would end its header. */
function withoutBlankLines(bytes: Uint8Array): Uint8Array {
  const start = bytes.findIndex((byte) => byte !== 0x0d && byte !== 0x0a);
  return start === -1 ? EMPTY : bytes.subarray(start);
}

export const newTestPages = [show, createAddress, submitMessage];
