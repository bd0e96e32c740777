/** Reads DMARC aggregate reports: RFC 9990, and RFC 7489 appendix C. */

import { ownerOf } from '../../lib/domain-names.ts';
import { noteElement, noteRepeated } from './dmarc-elements.ts';
import { addFolded, addTotal, type Fold, foldedRows, newFold } from './dmarc-rows.ts';
import { LIMITS, RefusedError } from './limits.ts';
import { Notes } from './notes.ts';
import { type FileName, readPeriod } from './period.ts';
import {
  DISPOSITIONS,
  type Disposition,
  type DkimAuthResult,
  type DmarcEvaluation,
  type DmarcPolicyPublished,
  type DmarcReport,
  type DmarcRow,
  type SpfAuthResult,
} from './report.ts';
import {
  domainOfAddress,
  firstOf,
  notedText,
  readAddress,
  readCount,
  readDomain,
  readNamedDomain,
  readTime,
} from './values.ts';
import { child, childrenOf, readXml, textOf, type XmlElement } from './xml.ts';

const MAX_TEXT = 255;
const MAX_COMMENT = 500;
const MAX_ERRORS = 20;
/** A record has a few; each one beyond is dropped. */
const MAX_RESULTS = 20;

export interface ReadDmarc {
  report: DmarcReport;
  repaired: string[];
}

export interface DmarcContext {
  /** The domain of the message that carried the report, which names the reporter if the report does not. */
  sender: string | null;
  file: FileName | null;
  /** In milliseconds. */
  now: number;
}

/** An unescaped `<` in text, which hides the tag after it. */
const BARE = /<(?=[^<>]*<)/g;

/** Throws RefusedError with what was read before the error. */
export function readDmarcAggregate(xml: string, context: DmarcContext): ReadDmarc {
  const notes = new Notes();
  try {
    return readXmlReport(xml, context, notes);
  } catch (error) {
    const isUnreadable = error instanceof RefusedError && error.reason === 'unreadable';
    const escaped = isUnreadable ? xml.replace(BARE, '&lt;') : xml;
    if (escaped === xml) throw error;
    const repaired = new Notes();
    repaired.add('unescaped angle brackets in text');
    return readXmlReport(escaped, context, repaired);
  }
}

function readXmlReport(xml: string, context: DmarcContext, notes: Notes): ReadDmarc {
  const reading: Reading = {
    metadata: null,
    policy: null,
    records: 0,
    fold: newFold(),
    waiting: [],
    notes,
  };
  try {
    requireFewRecords(xml);
    readXml(xml, 'feedback', (element) => addElement(reading, element), notes);
    return { report: reportOf(reading, context), repaired: notes.list() };
  } catch (error) {
    if (error instanceof RefusedError) error.about = aboutReport(reading, context);
    throw error;
  }
}

/** What was read before the error. */
function aboutReport({ metadata, policy }: Reading, { file, now }: DmarcContext) {
  const domain = readDomain(textOf(policy, 'domain')) ?? file?.domain ?? null;
  if (child(metadata, 'date_range') === null) return { ...file, domain };
  const { begin, end, isDated } = periodOf(metadata, { file, now }, new Notes());
  return isDated ? { domain, begin, end } : { domain };
}

/** Reading them takes seconds, so that they are counted first. A comment that looks like a record counts too. */
function requireFewRecords(xml: string): void {
  const start = /<(?:[\w.-]+:)?record[\s>]/g;
  for (let count = 0; start.exec(xml) !== null; count++)
    if (count === LIMITS.records) throw tooManyRecords();
}

const tooManyRecords = () =>
  new RefusedError('too_many', `The report has more than ${LIMITS.records} records.`);

interface Reading {
  metadata: XmlElement | null;
  policy: XmlElement | null;
  records: number;
  fold: Fold;
  /** Records before the policy: an empty header_from means its domain. */
  waiting: XmlElement[];
  notes: Notes;
}

function addElement(reading: Reading, element: XmlElement): void {
  const { notes } = reading;
  noteRepeated(element, notes);
  if (element.name === 'report_metadata' || element.name === 'policy_published') {
    const place = element.name === 'report_metadata' ? 'metadata' : 'policy';
    if (reading[place] !== null) noteElement(element.name, notes);
    reading[place] ??= element;
  } else if (element.name === 'record') {
    reading.records += 1;
    if (reading.records > LIMITS.records) throw tooManyRecords();
    const domain = readDomain(textOf(reading.policy, 'domain'));
    if (domain === null) reading.waiting.push(element);
    else addRecord(reading, element, domain);
  }
}

function reportOf(reading: Reading, { sender, file, now }: DmarcContext): DmarcReport {
  const { metadata, policy, notes, fold, records } = reading;
  if ([metadata, policy, records || null].filter((part) => part !== null).length < 2)
    throw new RefusedError(
      'invalid',
      'The report has only one of the three parts metadata, policy and records.',
    );
  const domain =
    readNamedDomain(textOf(policy, 'domain'), 'policy domain', notes) ?? otherDomain(reading, file);
  for (const record of reading.waiting) addRecord(reading, record, domain);
  const period = periodOf(metadata, { file, now }, notes);
  const text = (name: string, max = MAX_TEXT) =>
    notedText(textOf(metadata, name), max, name, notes);
  return {
    type: 'dmarc',
    reporter: reporterOf(metadata, sender, notes),
    email: text('email'),
    extraContact: text('extra_contact_info', MAX_COMMENT),
    reportId: reportIdOf(metadata, period.begin, notes),
    domain,
    ...period,
    policy: policyOf(policy, notes),
    errors: firstOf(childrenOf(metadata, 'error'), MAX_ERRORS, 'errors', notes).flatMap(
      (error) => notedText(error.text, MAX_COMMENT, 'error', notes) ?? [],
    ),
    generator: text('generator'),
    ...foldedRows(fold),
  };
}

function periodOf(
  metadata: XmlElement | null,
  context: Pick<DmarcContext, 'file' | 'now'>,
  notes: Notes,
) {
  const range = child(metadata, 'date_range');
  const texts = { begin: textOf(range, 'begin'), end: textOf(range, 'end') };
  const times = { begin: readTime(texts.begin, notes), end: readTime(texts.end, notes) };
  return readPeriod({ texts, ...times }, context, notes);
}

/** Without a policy domain: the one in the file name, or else the organizational domain of all From domains. */
function otherDomain({ waiting, notes }: Reading, file: FileName | null): string | null {
  if (file?.domain) {
    notes.add('no policy domain, so the one in the file name counts');
    return file.domain;
  }
  const owners = new Set(
    waiting.flatMap((record) => {
      const from = readDomain(textOf(identifiersOf(record), 'header_from'));
      return from === null ? [] : ownerOf(from);
    }),
  );
  const [owner] = owners;
  notes.add(
    owners.size === 1
      ? 'no policy domain, so the From domain counts'
      : 'no policy domain, so the one of the feedback address counts',
  );
  return owners.size === 1 ? owner! : null;
}

function reporterOf(metadata: XmlElement | null, sender: string | null, notes: Notes): string {
  const name = notedText(textOf(metadata, 'org_name'), MAX_TEXT, 'org_name', notes);
  if (name !== null) return name.toLowerCase();
  notes.add('no reporter name');
  return domainOfAddress(textOf(metadata, 'email')) ?? sender ?? 'unknown';
}

function reportIdOf(metadata: XmlElement | null, begin: number, notes: Notes): string {
  const id = notedText(textOf(metadata, 'report_id'), MAX_TEXT, 'report_id', notes);
  if (id !== null) return id;
  notes.add('no report ID');
  return String(begin / 1000);
}

function policyOf(element: XmlElement | null, notes: Notes): DmarcPolicyPublished {
  if (element === null) notes.add('no policy');
  const tag = (name: string) =>
    notedText(textOf(element, name), 100, name, notes)?.toLowerCase() ?? null;
  const pct = tag('pct');
  const isPercentage = pct !== null && /^\d{1,3}$/.test(pct) && Number(pct) <= 100;
  if (pct !== null && !isPercentage) notes.addValue('an invalid percentage', pct);
  const testing = tag('testing') ?? tag('t');
  if (testing !== null && !/^(?:y|yes|true|1|n|no|false|0)$/.test(testing))
    notes.addValue('an unknown test mode, which counts as off', testing);
  return {
    p: tag('p'),
    sp: tag('sp'),
    np: tag('np'),
    adkim: tag('adkim'),
    aspf: tag('aspf'),
    pct: isPercentage ? Number(pct) : null,
    fo: tag('fo'),
    testing: testing === null ? null : /^(?:y|yes|true|1)$/.test(testing),
    discoveryMethod: tag('discovery_method'),
  };
}

// Records.

function addRecord({ fold, notes }: Reading, record: XmlElement, domain: string | null): void {
  const row = readRecord(record, domain, notes);
  if (row === null) return;
  addTotal(fold, row);
  addFolded(fold, row);
}

const identifiersOf = (record: XmlElement) => child(record, 'identifiers', 'identities');

function readRecord(record: XmlElement, domain: string | null, notes: Notes): DmarcRow | null {
  const row = child(record, 'row');
  if (row === null) {
    notes.add('a record without a row, which is ignored');
    return null;
  }
  const evaluated = child(row, 'policy_evaluated');
  if (child(record, 'identities') !== null) notes.add('“identities” for “identifiers”');
  const identifiers = identifiersOf(record);
  const results = (name: 'dkim' | 'spf') =>
    firstOf(
      childrenOf(child(record, 'auth_results'), name),
      MAX_RESULTS,
      `${name.toUpperCase()} results`,
      notes,
    );
  return {
    address: readAddress(textOf(row, 'source_ip'), notes),
    count: countOf(row, notes),
    disposition: dispositionOf(textOf(evaluated, 'disposition'), notes),
    dkim: evaluationOf(textOf(evaluated, 'dkim'), 'DKIM', notes),
    spf: evaluationOf(textOf(evaluated, 'spf'), 'SPF', notes),
    reasons: reasonsOf(evaluated, notes),
    headerFrom: headerFromOf(textOf(identifiers, 'header_from'), domain, notes),
    envelopeFrom: envelopeDomain(identifiers, 'envelope_from', notes),
    envelopeTo: envelopeDomain(identifiers, 'envelope_to', notes),
    dkimResults: results('dkim').flatMap((element) => dkimResult(element, notes)),
    spfResults: results('spf').map((element) => spfResult(element, notes)),
  };
}

function countOf(row: XmlElement, notes: Notes): number {
  const text = textOf(row, 'count');
  if (text !== null) return readCount(text, 'message count', notes);
  notes.add('a record without a count, which counts as 1 message');
  return 1;
}

function dispositionOf(text: string | null, notes: Notes): Disposition {
  const value = text?.trim().toLowerCase() ?? '';
  const known = DISPOSITIONS.find((one) => one === value);
  if (known && known !== 'unknown') return known;
  if (value !== '' && value !== 'pass') {
    notes.addValue('an unknown disposition', value);
    return 'unknown';
  }
  notes.add(value === '' ? 'no disposition' : 'the disposition “pass”');
  return 'none';
}

const FAILURES =
  /^(?:fail|hardfail|softfail|none|neutral|unknown|error|temperror|permerror|policy)$/;

/** Anything but a pass is a failure (RFC 9990 §3.1.1.4). */
function evaluationOf(text: string | null, method: string, notes: Notes): DmarcEvaluation {
  const value = text?.trim().toLowerCase() ?? '';
  if (value === 'pass' || value === 'fail') return value;
  if (value !== '' && !FAILURES.test(value))
    notes.addValue(`an unknown ${method} result, which counts as fail`, value);
  else notes.add(value === '' ? `no ${method} result` : `the evaluated result “${value}”`);
  return 'fail';
}

/** Some reporters write the type as the text of `reason`. */
const reasonsOf = (evaluated: XmlElement | null, notes: Notes): DmarcRow['reasons'] =>
  firstOf(childrenOf(evaluated, 'reason'), MAX_RESULTS, 'reasons', notes).flatMap((reason) => {
    const bare = reason.children.length === 0 ? reason.text : null;
    const type = notedText(textOf(reason, 'type') ?? bare, 100, 'type', notes);
    const comment = notedText(textOf(reason, 'comment'), MAX_COMMENT, 'comment', notes);
    if (type !== null) return [{ type: type.toLowerCase(), comment }];
    return comment === null ? [] : [{ type: 'other', comment }];
  });

function headerFromOf(text: string | null, domain: string | null, notes: Notes): string | null {
  const from = readNamedDomain(text, 'From domain', notes);
  if (from !== null) return from;
  notes.add('no From domain, so the policy domain counts');
  return domain;
}

/** Some reporters write the whole address, and `<>` for an empty envelope sender. */
function envelopeDomain(
  identifiers: XmlElement | null,
  name: 'envelope_from' | 'envelope_to',
  notes: Notes,
): string | null {
  const text = textOf(identifiers, name);
  if (text === null || text === '<>') return null;
  return domainOfAddress(text) ?? readNamedDomain(text, `domain in ${name}`, notes);
}

const resultOf = (element: XmlElement, notes: Notes): string =>
  notedText(textOf(element, 'result'), 40, 'result', notes)?.toLowerCase() ?? 'none';

const humanResultOf = (element: XmlElement, notes: Notes) =>
  notedText(textOf(element, 'human_result'), MAX_COMMENT, 'human_result', notes);

/** Without a domain, the result is for no signature. */
function dkimResult(element: XmlElement, notes: Notes): DkimAuthResult[] {
  const text = textOf(element, 'domain');
  if (text === null) return [];
  return [
    {
      domain: readNamedDomain(text, 'signing domain', notes),
      selector: notedText(textOf(element, 'selector'), MAX_TEXT, 'selector', notes),
      result: resultOf(element, notes),
      humanResult: humanResultOf(element, notes),
    },
  ];
}

const spfResult = (element: XmlElement, notes: Notes): SpfAuthResult => ({
  domain: readNamedDomain(textOf(element, 'domain'), 'SPF domain', notes),
  scope: notedText(textOf(element, 'scope'), 40, 'scope', notes)?.toLowerCase() ?? null,
  result: resultOf(element, notes),
  humanResult: humanResultOf(element, notes),
});
