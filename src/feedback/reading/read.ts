/** Reads what carried reports: a message, or a file of any container. */

import { fieldValue, type Message, type Part } from '../../analysis/mime/message.ts';
import { parseMessage } from '../../analysis/mime/parse-message.ts';
import { addressDomain } from '../../lib/domain-names.ts';
import { type BounceSource, readBounce } from './bounce.ts';
import { isFromServer, readBounceText, statusFieldsIn } from './bounce-text.ts';
import { readComplaint } from './complaint.ts';
import { readDmarcAggregate } from './dmarc-aggregate.ts';
import { readDmarcFailure } from './dmarc-failure.ts';
import { fieldOf, readFieldMap } from './feedback-fields.ts';
import { figuresOf, identityOf, signedContent } from './identity.ts';
import { type Budget, LIMITS, newBudget, RefusedError } from './limits.ts';
import { Notes } from './notes.ts';
import { readFileName } from './period.ts';
import type { AboutReport, ReadItem, Refusal, Report, ReportType } from './report.ts';
import { parseReported } from './reported-message.ts';
import { readTls } from './tls.ts';
import { kindOf, type ReportFile, unpack } from './unpack.ts';
import { readDomain, shortText } from './values.ts';

export interface ReadOptions {
  /** In milliseconds: reports from the future are refused. */
  now: number;
}

/**
 * All reports and refusals in a message or file; at least one. Never throws, whatever the bytes.
 */
export async function readFeedback(raw: Uint8Array, { now }: ReadOptions): Promise<ReadItem[]> {
  const budget = newBudget();
  if (kindOf(raw) !== null) {
    const reading: Reading = {
      now,
      budget,
      body: raw,
      attached: false,
      sender: null,
      file: null,
      domain: null,
    };
    return orNotAReport(await readContainer(raw, reading), null);
  }
  const message = await parseMessage(raw);
  const reading: Reading = {
    now,
    budget,
    body: raw.subarray(message.bodyStart),
    attached: false,
    sender: senderOf(message),
    file: null,
    domain: readDomain(fieldValue(message, 'tls-report-domain')),
  };
  const items = orNotAReport(await readMessage(message, reading, 0), message);
  if (items.every(({ ok }) => ok)) return items;
  const digest = signedContent(reading.body);
  const hasFile = message.parts.some(({ type }) => type.startsWith('application/'));
  const file = message.parts
    .map(({ filename }) => readFileName(filename, now))
    .find((name) => name);
  return items.map((item) =>
    item.ok ? item : { ...item, about: item.about ?? file ?? {}, hasFile, digest },
  );
}

interface Reading extends ReadOptions {
  budget: Budget;
  /** What a signature of the outer message covers: its body, or an attached message or file. */
  body: Uint8Array;
  attached: boolean;
  /** The From domain of the message. */
  sender: string | null;
  /** The file name. */
  file: string | null;
  /** TLS-Report-Domain (RFC 8460 §5.3). */
  domain: string | null;
}

const senderOf = (message: Message): string | null => addressDomain(message.from[0]?.address ?? '');

function orNotAReport(items: ReadItem[], message: Message | null): ReadItem[] {
  const found = items.filter((item) => item.ok || item.reason !== 'not_a_report');
  // Messages attached to messages have parts of their own.
  if (found.length > LIMITS.reports + 1) return [...found.slice(0, LIMITS.reports), tooMany()];
  if (found.length > 0) return found;
  const refusal = items.find((item) => !item.ok) as Refusal | undefined;
  return [
    {
      ok: false,
      reason: 'not_a_report',
      detail:
        refusal?.detail ?? (message ? 'The message contains no report.' : 'The file is no report.'),
      type: null,
      ...(message ? { excerpt: excerptOf(message) } : {}),
    },
  ];
}

const MAX_EXCERPT = 500;

const excerptOf = (message: Message): Refusal['excerpt'] => ({
  from: shortText(fieldValue(message, 'from'), 255),
  to: shortText(fieldValue(message, 'to'), 255),
  subject: shortText(message.subject, 100),
  text: (message.text ?? '').trim().slice(0, MAX_EXCERPT),
});

// Messages.

const DELIVERY_STATUS = ['message/delivery-status', 'message/global-delivery-status'];
const ATTACHED = ['message/rfc822', 'message/global'];
const RETURNED = [...ATTACHED, 'text/rfc822-headers', 'message/global-headers'];

async function readMessage(message: Message, reading: Reading, depth: number): Promise<ReadItem[]> {
  const part = (types: string[]) => message.parts.find(({ type }) => types.includes(type));
  const feedback = part(['message/feedback-report']);
  if (feedback) return [await readFeedbackPart(feedback, part(RETURNED), reading, message)];
  const status = part(DELIVERY_STATUS);
  // A person who attaches a bounce of their own mail forwards it.
  if (status && depth > 0)
    return [refusal('not_a_report', 'The message only forwards a bounce.', 'bounce')];
  if (status) return [await readStatusPart(status, part(RETURNED), reading, message)];
  const complaint = await readBareComplaint(message, reading);
  if (complaint) return [complaint];
  // A mail server may also forward reports of receivers, which are archives.
  const isArchive = ({ content }: Part) => ['gzip', 'zip'].includes(kindOf(content) ?? '');
  const mayBounce = depth === 0 && !message.parts.some(isArchive);
  const bounce = mayBounce ? await readTextBounce(message, part(RETURNED), reading) : null;
  if (bounce) return [bounce];
  const items: ReadItem[] = [];
  for (const { type, content, filename } of message.parts) {
    // What was unpacked before the limit counts, and nothing after it.
    if (items.some((item) => !item.ok && item.reason === 'too_large')) break;
    if (items.length >= LIMITS.reports) {
      items.push(tooMany());
      break;
    }
    if (!ATTACHED.includes(type))
      items.push(...(await readContainer(content, { ...reading, file: filename })));
    else if (depth < LIMITS.attachedMessages) {
      const attached = await parseMessage(content);
      // Only the outer message can be verified, so that its sender is the reporter.
      const sender = reading.sender ?? senderOf(attached);
      const inner = { ...reading, sender, body: content, attached: true };
      items.push(...(await readMessage(attached, inner, depth + 1)));
    }
  }
  return items;
}

const tooMany = (): Refusal =>
  refusal('too_many', `The message has more than ${LIMITS.reports} parts that are reports.`, null);

const reporterOf = (message: Message, { sender }: Reading): string =>
  sender ?? senderOf(message) ?? 'unknown';

async function readFeedbackPart(
  { content }: Part,
  reported: Part | undefined,
  reading: Reading,
  message: Message,
): Promise<ReadItem> {
  const map = readFieldMap(content);
  const original = reported ? await parseReported(reported.content) : null;
  const reporter = reporterOf(message, reading);
  if (!map.has('feedback-type') && original === null)
    return refusal('not_a_report', 'The feedback report is empty.', null);
  const isFailure = fieldOf(map, 'feedback-type')?.toLowerCase() === 'auth-failure';
  const notes = new Notes();
  const report = isFailure
    ? readDmarcFailure(map, original, reporter, notes)
    : readComplaint(map, original, reporter, notes);
  return itemOf(report, notes.list(), reading);
}

/** Microsoft also sends complaints as the message alone, with the recipient in a field of its own. */
async function readBareComplaint(message: Message, reading: Reading): Promise<ReadItem | null> {
  const attached = message.parts.find(({ type }) => ATTACHED.includes(type));
  if (!attached || !/^complaint about message from /i.test(message.subject ?? '')) return null;
  const original = await parseReported(attached.content);
  if (fieldValue(original, 'x-hmxmroriginalrecipient') === null) return null;
  const report = readComplaint(new Map(), original, reporterOf(message, reading), new Notes());
  return itemOf(report, [], reading);
}

async function readStatusPart(
  { content }: Part,
  returned: Part | undefined,
  reading: Reading,
  message: Message,
): Promise<ReadItem> {
  const text = readBounceText(message);
  return (
    (await bounceItem({ fields: content, text, message }, returned, reading)) ??
    refusal('not_a_report', 'The bounce names no failed or delayed recipient.', 'bounce')
  );
}

/** Many servers send no status part, or write its fields into the text. */
async function readTextBounce(
  message: Message,
  returned: Part | undefined,
  reading: Reading,
): Promise<ReadItem | null> {
  if (!isFromServer(message)) return null;
  const fields = statusFieldsIn(message);
  const text = readBounceText(message);
  return fields || text ? bounceItem({ fields, text, message }, returned, reading) : null;
}

async function bounceItem(
  { fields, text, message }: Pick<BounceSource, 'fields' | 'text'> & { message: Message },
  returned: Part | undefined,
  reading: Reading,
): Promise<ReadItem | null> {
  const content = returned?.content ?? (text?.returned ? Buffer.from(text.returned) : null);
  const report = readBounce({
    fields,
    text,
    returned: content ? await parseReported(content) : null,
    reporter: reporterOf(message, reading),
  });
  return report && itemOf(report, [], reading);
}

// Files.

async function readContainer(bytes: Uint8Array, reading: Reading): Promise<ReadItem[]> {
  try {
    const files = await unpack(bytes, reading.budget);
    const items = files.flatMap((file) => readFile(file, reading));
    return items.length <= LIMITS.reports
      ? items
      : [refusal('too_many', `The file has more than ${LIMITS.reports} reports.`, null)];
  } catch (error) {
    const about = readFileName(reading.file, reading.now) ?? undefined;
    return [refusalOf(error, null, reading, about)];
  }
}

/** XML without this near its beginning is something else, such as an HTML body. */
const FEEDBACK_ELEMENT = /<(?:[\w.-]+:)?feedback[\s>]/i;
const SEARCHED = 64 * 1024;

function readFile({ format, name, text, repaired }: ReportFile, reading: Reading): ReadItem[] {
  const isDmarc = format === 'xml' && FEEDBACK_ELEMENT.test(text.slice(0, SEARCHED));
  if (format === 'xml' && !isDmarc)
    return [refusal('not_a_report', 'The XML is no DMARC report.', null)];
  const type = isDmarc ? 'dmarc' : 'tls';
  const file = readFileName(name, reading.now) ?? readFileName(reading.file, reading.now);
  try {
    const context = { ...reading, file };
    if (isDmarc) {
      const read = readDmarcAggregate(text, context);
      return [itemOf(read.report, [...repaired, ...read.repaired], reading)];
    }
    const read = readTls(text, context);
    return read.reports.map((report) => itemOf(report, [...repaired, ...read.repaired], reading));
  } catch (error) {
    return [refusalOf(error, type, reading, file ?? undefined)];
  }
}

const itemOf = (report: Report, repaired: string[], { body, attached }: Reading): ReadItem => ({
  ok: true,
  report,
  ...identityOf(report, body),
  figures: figuresOf(report),
  attached,
  repaired: [...new Set(repaired)],
});

const refusal = (reason: Refusal['reason'], detail: string, type: ReportType | null): Refusal => ({
  ok: false,
  reason,
  detail,
  type,
});

/** A refusal with what the report says about itself, or else its file name. */
function refusalOf(
  error: unknown,
  type: ReportType | null,
  { attached }: Reading,
  file: AboutReport | undefined,
): Refusal {
  if (!(error instanceof RefusedError)) throw error;
  return {
    ...refusal(error.reason, error.message, type),
    about: { ...file, ...error.about },
    attached,
  };
}
