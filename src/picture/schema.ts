/** API schemas of the picture of a domain, and of Google’s requirements beside our own checks. */

import * as v from 'valibot';
import { Fix, RECORD } from '../domains/finding.ts';
import { SPAM_LIMIT_TEXT } from '../figures/gmail.ts';
import { described, exampleId, named, Text, Time, typeField } from '../http/schemas.ts';
import { NoData } from '../receivers/schema.ts';
import { SOURCE_STATES, SOURCES, STATES, TOPICS } from './vocabulary.ts';

const SOURCE_TEXT =
  '`dns`: the health check. `tests`: tests of messages. `placement`: seed mailboxes. `feedback`: reports of receivers. `receivers`: what Google and Microsoft publish.';
const STATE_TEXT = '`unknown` is neither good nor bad: too little is known.';

const At = described(
  Text,
  'When it was measured: a time, or a day such as `2026-11-21`. Null if never.',
  '2026-11-21T10:00:00.000Z',
);
const Since = described(
  Text,
  'When it started: a time or a day. Null if that is not known.',
  '2026-11-19',
);
const Basis = described(
  Text,
  'The period, the reporters or the messages behind it. Null if the text says it.',
  '12 reporters, last 14 days',
);
const Path = described(
  v.string(),
  'The page with the details, from the root of the web application.',
  `/domains/${exampleId('dom')}#gmail`,
);
const Name = described(v.string(), 'The name of the source for people.', 'DNS');

const PictureStatement = named(
  'PictureStatement',
  v.object({
    source: described(v.picklist(SOURCES), SOURCE_TEXT),
    origin: described(v.string(), 'Who says it.', 'Google Postmaster Tools'),
    state: described(v.picklist(STATES), STATE_TEXT),
    text: described(
      v.string(),
      'What it says, in one sentence.',
      'Recipients reported 0.42% of the mail in Gmail inboxes as spam.',
    ),
    at: At,
    since: Since,
    basis: Basis,
    path: Path,
  }),
  'What one source says about one topic.',
);
export type Statement = v.InferOutput<typeof PictureStatement>;

const PictureStep = named(
  'PictureStep',
  v.object({
    text: described(
      v.string(),
      'What to do, in one or two sentences.',
      'Stop sending to recipients who did not ask for the mail.',
    ),
    record: described(
      v.nullable(named('PictureRecord', v.object(RECORD), 'The DNS record to publish.')),
      'The DNS record to publish, if that is the step.',
    ),
    path: Path,
  }),
  'What to do about a problem.',
  {
    record: null,
  },
);
export type FirstStep = v.InferOutput<typeof PictureStep>;

const HEADLINE_EXAMPLE = `Gmail users report 0.42% of your mail as spam. The limit is ${SPAM_LIMIT_TEXT}.`;

const PictureProblem = named(
  'PictureProblem',
  v.object({
    topic: described(v.picklist(TOPICS), 'What the problem is about.', 'spam_reports'),
    state: described(v.picklist(['fail', 'warn']), 'How bad it is.'),
    title: described(
      v.string(),
      'What is wrong, in one sentence of at most 90 characters.',
      HEADLINE_EXAMPLE,
    ),
    since: Since,
    cost: described(
      v.pipe(v.number(), v.integer()),
      'Its place among all kinds of problems: the higher, the more it costs. Failures have at least 50.',
      85,
    ),
    first_step: described(PictureStep, 'What to do first.'),
    statements: described(
      v.array(PictureStatement),
      'What all sources say about the topic: those that see the problem first, those that do not last.',
    ),
    is_disputed: described(v.boolean(), 'Whether another source says that all is well.'),
  }),
  'A problem of a domain, with what each source says about it.',
);
export type Problem = v.InferOutput<typeof PictureProblem>;

const PictureSource = named(
  'PictureSource',
  v.object({
    source: described(v.picklist(SOURCES), SOURCE_TEXT),
    name: Name,
    state: described(
      v.picklist(SOURCE_STATES),
      `${STATE_TEXT} \`not_set_up\`: the text says how to set it up.`,
    ),
    text: described(v.string(), 'What it says, in a sentence.', 'example.com is healthy.'),
    at: At,
    basis: Basis,
    path: Path,
  }),
  'A source at a glance.',
);
export type SourceLine = v.InferOutput<typeof PictureSource>;

export const DomainPicture = named(
  'DomainPicture',
  v.object({
    object: typeField('domain_picture'),
    domain_id: v.string(),
    name: described(v.string(), 'The domain name, in A-labels.', 'example.com'),
    state: described(
      v.picklist(STATES),
      'The worst of all sources. `pass`: all sources that are set up are known, and none has a problem.',
    ),
    headline: described(
      v.string(),
      'The problem that costs most, or that there is none, in at most 90 characters.',
      HEADLINE_EXAMPLE,
    ),
    since: Since,
    first_step: described(
      v.nullable(PictureStep),
      'What to do first. Null if there is no problem.',
    ),
    problems: described(v.array(PictureProblem), 'All problems, what costs most first.'),
    sources: described(v.array(PictureSource), 'The five sources, always in the same order.'),
  }),
  'What all sources say about a domain: what is wrong, since when, and what to do first.',
);
export type Picture = v.InferOutput<typeof DomainPicture>;

// Google’s requirements.

export const ComplianceQuery = v.strictObject({ domain_id: v.string() });

const ComplianceFinding = named(
  'ComplianceFinding',
  v.object({
    source: described(
      v.picklist(['dns', 'tests']),
      '`dns`: the last health check. `tests`: a test of a message.',
    ),
    check: described(v.string(), 'The ID of the check.', 'spf'),
    label: described(v.string(), 'The name of the check for people.', 'SPF'),
    status: described(v.picklist(['pass', 'warn', 'fail']), 'What the check found.'),
    title: described(v.string(), 'The finding in one sentence.', 'SPF passes.'),
    at: described(Time, 'When the check ran.'),
    test_id: described(Text, 'The ID of the test. Null for a health check.'),
    path: Path,
  }),
  'What one of our checks found.',
);
export type ComplianceFinding = v.InferOutput<typeof ComplianceFinding>;

const ComplianceRequirement = named(
  'ComplianceRequirement',
  v.object({
    requirement: described(v.string(), 'The name that Google uses.', 'SPF'),
    name: described(v.string(), 'The name for people.', 'SPF'),
    status: described(
      v.string(),
      'What Google says: `COMPLIANT`, `NEEDS_WORK`, or a status that it has added since.',
      'NEEDS_WORK',
    ),
    reason: described(
      Text,
      'Why, in Google’s words. Null if it gives no reason.',
      'UNSUBSCRIBE_REQUESTS_IGNORED',
    ),
    since: described(Time, 'When this status was first fetched.'),
    previous: described(Text, 'The status before. Null if this is the first one.', 'COMPLIANT'),
    checked_at: described(Time, 'When the status was last fetched.'),
    own: described(
      v.array(ComplianceFinding),
      'The latest results of our checks about the same thing, of the last 30 days. Empty if none can tell.',
    ),
    agrees: described(
      v.nullable(v.boolean()),
      'Whether our checks found the same. Null if they cannot tell.',
      false,
    ),
    fix: described(v.nullable(Fix), 'What to change. Null if no check knows it.'),
  }),
  'A requirement of Google for senders.',
);
export type ComplianceRequirement = v.InferOutput<typeof ComplianceRequirement>;

export const Compliance = named(
  'Compliance',
  v.object({
    object: typeField('compliance'),
    domain_id: v.string(),
    requirements: described(
      v.array(ComplianceRequirement),
      'In Google’s order. Empty if none are known.',
    ),
    no_data: described(
      v.nullable(NoData),
      'Why there are none. Null if there are, or if Google has published none.',
    ),
  }),
  'Whether a domain meets Google’s requirements for senders, and what our own checks say.',
);
