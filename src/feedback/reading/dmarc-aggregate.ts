/** Reads DMARC aggregate reports: RFC 9990, and RFC 7489 appendix C. */

import { addFolded, addTotal, type Fold, foldedRows, newFold } from './dmarc-rows.ts';
import { LIMITS, RefusedError } from './limits.ts';
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
  readAddress,
  readCount,
  readDomain,
  readTime,
  requirePeriod,
  shortText,
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

/**
 * `sender` is the domain of the message that carried the report, which names the reporter if the report does not. Throws
 * RefusedError.
 */
export function readDmarcAggregate(
  xml: string,
  { sender, now }: { sender: string | null; now: number },
): ReadDmarc {
  requireFewRecords(xml);
  const repaired = new Set<string>();
  const reading: Reading = {
    metadata: null,
    policy: null,
    records: 0,
    fold: newFold(),
    waiting: [],
  };
  readXml(xml, 'feedback', (element) => addElement(reading, element, repaired), repaired);
  const { metadata, policy } = reading;
  const domain = readDomain(textOf(policy, 'domain'));
  if (domain === null)
    throw new RefusedError('invalid', 'The report names no valid policy domain.');
  for (const record of reading.waiting) addRecord(reading, record, domain, repaired);
  const range = child(metadata, 'date_range');
  const begin = readTime(textOf(range, 'begin'), 'beginning', repaired);
  const end = readTime(textOf(range, 'end'), 'end', repaired);
  requirePeriod(begin, end, now);
  const reporter = reporterOf(metadata, sender, repaired);
  const report: DmarcReport = {
    type: 'dmarc',
    reporter,
    email: shortText(textOf(metadata, 'email'), MAX_TEXT),
    extraContact: shortText(textOf(metadata, 'extra_contact_info'), MAX_COMMENT),
    reportId: reportIdOf(metadata, begin, repaired),
    domain,
    begin,
    end,
    policy: policyOf(policy),
    errors: childrenOf(metadata, 'error')
      .slice(0, MAX_ERRORS)
      .map(({ text }) => text.slice(0, MAX_COMMENT)),
    generator: shortText(textOf(metadata, 'generator'), MAX_TEXT),
    ...foldedRows(reading.fold),
  };
  return { report, repaired: [...repaired].sort() };
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
}

function addElement(reading: Reading, element: XmlElement, repaired: Set<string>): void {
  if (element.name === 'report_metadata') reading.metadata ??= element;
  else if (element.name === 'policy_published') reading.policy ??= element;
  else if (element.name === 'record') {
    reading.records += 1;
    if (reading.records > LIMITS.records) throw tooManyRecords();
    const domain = readDomain(textOf(reading.policy, 'domain'));
    if (domain === null) reading.waiting.push(element);
    else addRecord(reading, element, domain, repaired);
  }
}

function reporterOf(
  metadata: XmlElement | null,
  sender: string | null,
  repaired: Set<string>,
): string {
  const name = shortText(textOf(metadata, 'org_name'), MAX_TEXT);
  if (name !== null) return name.toLowerCase();
  repaired.add('no name of the reporter');
  const email = textOf(metadata, 'email');
  const domain = readDomain(email?.split('@').at(-1) ?? null) ?? sender;
  if (domain === null) throw new RefusedError('invalid', 'The report does not name its reporter.');
  return domain;
}

function reportIdOf(metadata: XmlElement | null, begin: number, repaired: Set<string>): string {
  const id = shortText(textOf(metadata, 'report_id'), MAX_TEXT);
  if (id !== null) return id;
  repaired.add('no report ID');
  return String(begin / 1000);
}

function policyOf(element: XmlElement | null): DmarcPolicyPublished {
  const tag = (name: string) => shortText(textOf(element, name), 100)?.toLowerCase() ?? null;
  const pct = tag('pct');
  const testing = tag('testing') ?? tag('t');
  return {
    p: tag('p'),
    sp: tag('sp'),
    np: tag('np'),
    adkim: tag('adkim'),
    aspf: tag('aspf'),
    pct: pct !== null && /^\d{1,3}$/.test(pct) ? Number(pct) : null,
    fo: tag('fo'),
    testing: testing === null ? null : /^(?:y|yes|true|1)$/.test(testing),
    discoveryMethod: tag('discovery_method'),
  };
}

// Records.

function addRecord(
  { fold }: Reading,
  record: XmlElement,
  domain: string,
  repaired: Set<string>,
): void {
  const row = readRecord(record, domain, repaired);
  addTotal(fold, row);
  addFolded(fold, row);
}

function readRecord(record: XmlElement, domain: string, repaired: Set<string>): DmarcRow {
  const row = child(record, 'row');
  if (row === null) throw new RefusedError('invalid', 'A record has no <row>.');
  const evaluated = child(row, 'policy_evaluated');
  if (child(record, 'identities') !== null) repaired.add('“identities” for “identifiers”');
  const identifiers = child(record, 'identifiers', 'identities');
  const results = child(record, 'auth_results');
  return {
    address: readAddress(textOf(row, 'source_ip'), repaired),
    count: countOf(row, repaired),
    disposition: dispositionOf(textOf(evaluated, 'disposition'), repaired),
    dkim: evaluationOf(textOf(evaluated, 'dkim'), 'DKIM', repaired),
    spf: evaluationOf(textOf(evaluated, 'spf'), 'SPF', repaired),
    reasons: reasonsOf(evaluated),
    headerFrom: headerFromOf(textOf(identifiers, 'header_from'), domain, repaired),
    envelopeFrom: readDomain(textOf(identifiers, 'envelope_from')),
    envelopeTo: readDomain(textOf(identifiers, 'envelope_to')),
    dkimResults: childrenOf(results, 'dkim').slice(0, MAX_RESULTS).flatMap(dkimResult),
    spfResults: childrenOf(results, 'spf').slice(0, MAX_RESULTS).map(spfResult),
  };
}

function countOf(row: XmlElement, repaired: Set<string>): number {
  const text = textOf(row, 'count');
  if (text !== null) return readCount(text, 'count of messages');
  repaired.add('a record without a count, which is one message');
  return 1;
}

function dispositionOf(text: string | null, repaired: Set<string>): Disposition {
  const value = text?.trim().toLowerCase() ?? '';
  const known = DISPOSITIONS.find((one) => one === value);
  if (known) return known;
  if (value !== '' && value !== 'pass')
    throw new RefusedError('invalid', `“${value.slice(0, 40)}” is not a disposition.`);
  repaired.add(value === '' ? 'no disposition' : 'the disposition “pass”');
  return 'none';
}

const FAILURES =
  /^(?:fail|hardfail|softfail|none|neutral|unknown|error|temperror|permerror|policy)$/;

/** Anything but a pass is a failure (RFC 9990 §3.1.1.4). */
function evaluationOf(text: string | null, method: string, repaired: Set<string>): DmarcEvaluation {
  const value = text?.trim().toLowerCase() ?? '';
  if (value === 'pass' || value === 'fail') return value;
  if (value !== '' && !FAILURES.test(value))
    throw new RefusedError('invalid', `“${value.slice(0, 40)}” is not a result of ${method}.`);
  repaired.add(value === '' ? `no result of ${method}` : `the evaluated result “${value}”`);
  return 'fail';
}

const reasonsOf = (evaluated: XmlElement | null): DmarcRow['reasons'] =>
  childrenOf(evaluated, 'reason')
    .slice(0, MAX_RESULTS)
    .flatMap((reason) => {
      const type = shortText(textOf(reason, 'type'), 100)?.toLowerCase();
      return type ? [{ type, comment: shortText(textOf(reason, 'comment'), MAX_COMMENT) }] : [];
    });

function headerFromOf(text: string | null, domain: string, repaired: Set<string>): string {
  const from = readDomain(text);
  if (from !== null) return from;
  repaired.add('no From domain, so that of the policy');
  return domain;
}

const resultOf = (element: XmlElement): string =>
  shortText(textOf(element, 'result'), 40)?.toLowerCase() ?? 'none';

const dkimResult = (element: XmlElement): DkimAuthResult[] => {
  const domain = readDomain(textOf(element, 'domain'));
  if (domain === null) return [];
  return [
    {
      domain,
      selector: shortText(textOf(element, 'selector'), MAX_TEXT),
      result: resultOf(element),
      humanResult: shortText(textOf(element, 'human_result'), MAX_COMMENT),
    },
  ];
};

const spfResult = (element: XmlElement): SpfAuthResult => ({
  domain: readDomain(textOf(element, 'domain')),
  scope: shortText(textOf(element, 'scope'), 40)?.toLowerCase() ?? null,
  result: resultOf(element),
  humanResult: shortText(textOf(element, 'human_result'), MAX_COMMENT),
});
