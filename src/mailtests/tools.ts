/** The tools about messages and their tests. */

import { setTimeout as pause } from 'node:timers/promises';
import * as v from 'valibot';
import { findingText } from '../domains/finding-text.ts';
import { described, exampleId, idOf, wholeNumber } from '../http/schemas.ts';
import { linkTo, type ToolAnswer, type ToolCall, tool } from '../http/tool.ts';
import { answerText, clean, NEXT_PAGE, quoted, shortened } from '../http/tool-text.ts';
import { AppError, invalidParams } from '../lib/errors.ts';
import { formatCount } from '../lib/format/numbers.ts';
import { printableJson } from '../lib/log.ts';
import { receiptSentence } from '../report/document/receipt.ts';
import { explainCheck } from './explain-check.ts';
import { testOperations } from './routes.ts';
import type { ListedTest, Test } from './schema.ts';
import { TestListQuery } from './schemas/filter.ts';
import { NewTest, Reanalysis, SubmitQuery } from './schemas/request.ts';
import { resultText } from './tool-text.ts';

const { submit, create, get, list, reanalyze } = testOperations;

/** In characters of JSON, which a message of this size needs at most twice. */
const MAX_MESSAGE_TEXT = 4 * 1024 * 1024;

export const MESSAGE = described(
  v.pipe(
    v.string('must be text'),
    v.minLength(1, 'must not be empty'),
    v.maxLength(MAX_MESSAGE_TEXT, `must have at most ${MAX_MESSAGE_TEXT} characters`),
  ),
  'The whole message with its header, exactly as it was sent or received (the source, an .eml file).',
);

/** How a message was sent; also of the tool that needs no service. */
export const MESSAGE_INPUT = {
  kind: SubmitQuery.entries.kind,
  client_ip: SubmitQuery.entries.client_ip,
  helo: SubmitQuery.entries.helo,
  mail_from: SubmitQuery.entries.mail_from,
};

export const CHECK_MESSAGE_TEXT =
  'Checks the source of one email message: authentication, spam filters, content and the rules of Gmail, Yahoo, Microsoft and Apple. Returns the findings in order of points lost, each with its fix and the DNS record to publish. The header of a received message says how it arrived; client_ip, helo and mail_from override it. If the header does not say and you omit them, SPF stays unknown.';

export const checkMessage = tool({
  name: 'check_message',
  title: 'Check a message',
  description: `${CHECK_MESSAGE_TEXT} Use create_test instead if the message can still be sent.`,
  effect: 'creates',
  uses: [submit, get],
  resources: [get],
  answers: get,
  input: v.strictObject({
    message: MESSAGE,
    name: SubmitQuery.entries.name,
    ...MESSAGE_INPUT,
  }),
  run: ({ message, ...query }, call) => checkOnService(Buffer.from(message), query, call),
});

/** Uploads a message, and waits for its result, but less than the minute that clients wait for an answer. */
export async function checkOnService(
  raw: Uint8Array,
  query: Record<string, string | undefined>,
  call: ToolCall,
): Promise<ToolAnswer> {
  const { id } = await call.invoke(submit, { query, raw });
  call.progress('analyzing the message');
  return testAnswer(await waitForTest(id, { seconds: 45, placement: false }, call), call);
}

export const createTest = tool({
  name: 'create_test',
  title: 'Create a test',
  description:
    'Creates a test address. The user, or the program that sends mail, sends one message to it. Then get_test with wait_seconds returns the findings. This is the best way to check how mail is really sent.',
  effect: 'creates',
  uses: [create],
  resources: [get],
  answers: get,
  input: v.strictObject({
    name: NewTest.entries.name,
    kind: NewTest.entries.kind,
    tags: NewTest.entries.tags,
    placement: NewTest.entries.placement,
  }),
  async run(input, call) {
    const test = await call.invoke(create, { body: input });
    if (test.object !== 'test') throw new AppError('internal_error', 'No test was created.');
    const seeds = test.seed_addresses.map(({ provider, address }) => `- ${address} (${provider})`);
    return {
      text: answerText(
        [
          `Created ${test.id}. Send one message to:`,
          test.address,
          ...(seeds.length > 0 ? ['Send the same message to each of these too:', ...seeds] : []),
          `The address expires at ${test.expires_at}. Next: get_test with id ${test.id} and wait_seconds 50.`,
        ],
        test.report_url,
      ),
      links: [linkTo(get, { id: test.id }, 'The test')],
      data: test,
    };
  },
});

/** What one request of the API waits at most, well below what proxies allow. */
const WAIT_STEP_SECONDS = 20;

/** The test once it has ended, or as it is after this time. Tells the client what it waits for. */
async function waitForTest(
  id: string,
  { seconds, placement }: { seconds: number; placement: boolean },
  call: ToolCall,
): Promise<Test> {
  for (let left = seconds; ; left -= WAIT_STEP_SECONDS) {
    const wait = Math.max(0, Math.min(left, WAIT_STEP_SECONDS));
    const test = await call.invoke(get, {
      params: { id },
      query: { wait: String(wait), for: placement ? 'placement' : 'result' },
    });
    const isOver = left <= WAIT_STEP_SECONDS || call.signal.aborted;
    const hasEnded = test.status === 'completed' || test.status === 'failed';
    if (isOver || (hasEnded && !(placement && test.placement_status === 'waiting'))) return test;
    call.progress(hasEnded ? 'waiting for the placement' : `the test is ${test.status}`);
  }
}

const testResource = (id: string) => linkTo(get, { id }, 'The whole test as JSON');

function testAnswer(test: Test, call: ToolCall): ToolAnswer {
  const link = testResource(test.id);
  return { text: testText(test, link.uri, call), links: [link], data: test };
}

function testText(test: Test, uri: string, { has }: ToolCall): string {
  const rest = `get_test with check gives one finding with its evidence; ${uri} has the whole`;
  const name = test.name === null ? '' : ` ${quoted(test.name)}`;
  const page = `Page for people: ${test.report_url}`;
  const end = test.completed_at === null ? '' : ` at ${test.completed_at}`;
  const receipt = test.envelope?.file ? [receiptSentence(test.envelope)] : [];
  const head = [`Test ${test.id}${name}: ${test.status}${end}`, page, ...receipt];
  if (test.status === 'completed') return resultText([...head, ...placementOf(test)], test, rest);
  return answerText([...head, unfinished(test, has)], rest);
}

function placementOf({ placement_status, inbox_placement }: Test): string[] {
  if (placement_status === 'none') return [];
  const places = Object.entries(inbox_placement).map(([name, place]) => `${name} ${place}`);
  const found = places.length > 0 ? places.join(', ') : 'not found in a seed mailbox';
  return [`Placement${placement_status === 'waiting' ? ' so far' : ''}: ${clean(found)}`];
}

function unfinished(
  { status, failure_reason, address, expires_at, id }: Test,
  has: ToolCall['has'],
): string {
  if (status === 'waiting')
    return `No message has arrived at ${address}. The address expires at ${expires_at}. To keep waiting, call get_test again with wait_seconds.`;
  if (status === 'processing')
    return 'The message has arrived and is being analyzed. Call get_test again with wait_seconds 20.';
  if (failure_reason === 'not_received')
    return `No message arrived at ${address} in time, and the address has expired. Create another test.`;
  if (failure_reason === 'unreadable') return 'The message could not be read as an email.';
  return `The analysis failed.${has('reanalyze_test') ? ` reanalyze_test with id ${id} repeats it.` : ''}`;
}

const MAX_EVIDENCE = 4000;

export const getTest = tool({
  name: 'get_test',
  title: 'Get a test',
  description:
    'Returns the result of a test: the verdict, and the findings in order of points lost, with fixes and DNS records. With wait_seconds, it waits for a message that is on its way. With check, it returns only that finding, with all its evidence.',
  uses: [get],
  resources: [get],
  answers: get,
  input: v.strictObject({
    id: idOf('test'),
    check: v.optional(
      described(v.string('must be text'), 'The ID of a check, from the findings.', 'dmarc_policy'),
    ),
    wait_seconds: v.optional(
      described(wholeNumber(0, 300), 'How long to wait for the test to end.', 50),
      0,
    ),
    wait_for: v.optional(
      described(
        v.picklist(['result', 'placement'], 'must be one of result, placement'),
        'What to wait for: the findings, or also the final placement in seed mailboxes.',
      ),
      'result',
    ),
  }),
  async run({ id, check, wait_seconds, wait_for }, call) {
    const wait = { seconds: wait_seconds, placement: wait_for === 'placement' };
    const test = await waitForTest(id, wait, call);
    return check === undefined ? testAnswer(test, call) : checkAnswer(test, check);
  },
});

function checkAnswer(test: Test, id: string): ToolAnswer {
  const found = test.checks.filter((check) => check.id === id);
  if (found.length === 0)
    throw noCheck(
      test.checks.length === 0
        ? `this test has no findings, because its status is ${test.status}`
        : `this test has only ${test.checks.map((c) => c.id).join(', ')}`,
    );
  const link = testResource(test.id);
  return {
    text: answerText(
      [
        ...found.flatMap((check) => [
          findingText(check, test.checks),
          `Evidence: ${shortened(clean(printableJson(check.evidence)), MAX_EVIDENCE)}`,
        ]),
      ],
      `${link.uri} has the whole`,
    ),
    links: [link],
    data: { ...test, checks: found },
  };
}

const noCheck = (message: string) => invalidParams([{ param: 'check', code: 'invalid', message }]);

const { q, status, from_domain, from_address, tag, starting_after } = TestListQuery.entries;

export const listTests = tool({
  name: 'list_tests',
  title: 'List tests',
  description:
    'Lists tests of messages, newest first, with score and verdict. You can combine filters; q searches names, subjects and senders. Start here for questions such as "Why does my newsletter go to spam?"',
  uses: [list],
  resources: [get],
  answers: list,
  input: v.strictObject({
    q,
    status,
    from_domain,
    from_address,
    tag,
    starting_after,
    max_score: v.optional(
      described(wholeNumber(0, 100), 'Only tests with at most this score.', 80),
    ),
    limit: v.optional(described(wholeNumber(1, 50), 'How many tests.', 10), 10),
  }),
  async run({ max_score, limit, ...query }, call) {
    const page = await call.invoke(list, {
      query: { ...query, max_score: max_score?.toString(), limit: String(limit) },
    });
    const { data, has_more } = page;
    if (data.length === 0)
      return { text: 'No tests match. Without filters, list_tests shows the latest.', data: page };
    return {
      data: page,
      text: answerText(
        [
          `${formatCount(data.length, 'test')}, newest first.${has_more ? ` There are more: ${NEXT_PAGE}.` : ''}`,
          ...data.map(listedText),
        ],
        NEXT_PAGE,
      ),
    };
  },
});

function listedText(test: ListedTest): string {
  const { id, status, score, grade, summary, subject, from_address, created_at, name } = test;
  const result =
    status !== 'completed' ? status : score === null ? 'score unknown' : `${score}/100 (${grade})`;
  const label = name === null ? '' : ` name ${quoted(name, 80)}`;
  return [
    `\n${id} ${created_at.slice(0, 16)}Z ${result}${label}`,
    subject === null ? '' : `subject ${quoted(subject, 80)} from ${quoted(from_address, 80)}`,
    clean(summary ?? ''),
  ]
    .filter(Boolean)
    .join('\n');
}

export const reanalyzeTest = tool({
  name: 'reanalyze_test',
  title: 'Reanalyze a test',
  description:
    'Analyzes the stored message of a test again, with the DNS records as they are now. Use it after a record was published. Returns the new result, which replaces the old one.',
  effect: 'writes',
  destroys: true,
  uses: [reanalyze, get],
  resources: [get],
  answers: get,
  input: v.strictObject({
    id: described(v.string('must be text'), 'The ID of the test.', exampleId('test')),
    kind: Reanalysis.entries.kind,
  }),
  async run({ id, kind }, call) {
    const before = await call.invoke(reanalyze, { params: { id }, body: { kind } });
    const { completed_at } = before;
    // The test stays completed meanwhile, so there is nothing to wait for but a new result.
    for (let i = 0; i < MAX_RESULT_READS; i += 1) {
      call.progress('analyzing the message again');
      await pause(RESULT_READ_MS, undefined, { signal: call.signal });
      const test = await call.invoke(get, { params: { id } });
      if (test.completed_at !== completed_at) return testAnswer(test, call);
    }
    return {
      text: `The reanalysis has started, but has no result yet. The last result is from ${completed_at}. Next: call get_test with id ${id} until that time changes.`,
      data: before,
    };
  },
});

const RESULT_READ_MS = 500;
const MAX_RESULT_READS = 80;

export const mailtestTools = [
  checkMessage,
  createTest,
  getTest,
  listTests,
  reanalyzeTest,
  explainCheck,
];
