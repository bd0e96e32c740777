/** The tool about what receivers report: who sends as a domain, and whether its policy can become stricter. */

import * as v from 'valibot';
import { DOMAIN_INPUT, domainIdOf, findsDomain } from '../domains/tools.ts';
import { STOPPED, stoppedOf } from '../figures/dmarc.ts';
import { described, wholeNumber } from '../http/schemas.ts';
import { linkTo, tool } from '../http/tool.ts';
import { answerText, clean, kept, quoted, recordText } from '../http/tool-text.ts';
import { formatCount } from '../lib/format/numbers.ts';
import { sourceOperations } from './sources/routes.ts';
import type { FeedbackSource, FeedbackSourceDetails } from './sources/schema.ts';
import { SourceListQuery } from './sources/schema.ts';

const { list, get, advice } = sourceOperations;

export const getFeedback = tool({
  name: 'get_feedback',
  title: 'Get feedback of receivers',
  description:
    'Returns what DMARC reports show about a domain of the team: who sends as the domain, and what passes and fails. It also says whether the policy can become stricter, with the record. Use get_source for one sender.',
  uses: [...findsDomain, list, advice],
  resources: [get],
  input: v.strictObject({
    domain: DOMAIN_INPUT,
    from: SourceListQuery.entries.from,
    to: SourceListQuery.entries.to,
    failing: v.optional(
      described(
        v.boolean('must be true or false'),
        'Only sources with messages that fail DMARC. Spoofed mail, which is meant to fail, is left out.',
      ),
      false,
    ),
    limit: v.optional(described(wholeNumber(1, 100), 'How many sources.', 20), 20),
  }),
  async run({ domain, from, to, failing, limit }, call) {
    const domain_id = await domainIdOf(domain, call);
    const [sources, policy] = await Promise.all([
      call.invoke(list, {
        query: {
          domain_id,
          from,
          to,
          limit: String(limit),
          ...(failing ? { failing: 'true' } : {}),
        },
      }),
      call.invoke(advice, { query: { domain_id } }),
    ]);
    const { data, has_more } = sources;
    const count =
      data.length === 0 ? 'No sources in this period' : formatCount(data.length, 'source');
    return {
      text: answerText(
        [
          kept(`DMARC policy ${policy.current ?? 'not published'}; advice: ${policy.state}`),
          kept(clean(policy.summary)),
          ...policy.missing.map((text) => `- ${clean(text)}`),
          kept(
            policy.record
              ? `${policy.ready ? 'Publish' : 'For later, not to be published yet'}: ${recordText(policy.record)}`
              : '',
          ),
          kept(`\n${count}${has_more ? ', and more: use a higher limit' : ''}.`),
          ...data.map(sourceLine),
        ],
        'use failing, or get_source for one source',
      ),
    };
  },
});

function sourceLine(source: FeedbackSource): string {
  const { id, kind, messages, passed, failed, forwarded } = source;
  const parts = [
    `${messages} messages`,
    `${passed} pass`,
    `${failed} fail`,
    ...(forwarded > 0 ? [`${forwarded} forwarded`] : []),
    ...(stoppedOf(source) > 0 ? STOPPED.map(({ name }) => `${source[name]} ${name}`) : []),
  ];
  const label = source.label === null ? '' : ` (${quoted(source.label, 60)})`;
  return `- ${id} ${quoted(source.name, 80)}${label}, ${kind}: ${parts.join(', ')}; last ${source.last_day}`;
}

export const getSource = tool({
  name: 'get_source',
  title: 'Get a source',
  description:
    'Returns who one sender of a domain is, why its messages fail DMARC, and how to set it up. Get its ID from get_feedback.',
  // Its ID is only in answers about a domain.
  uses: [...findsDomain, get],
  resources: [get],
  answers: get,
  input: v.strictObject({
    id: described(v.string('must be text'), 'The ID of the source (src_…).'),
  }),
  async run({ id }, call) {
    const source = await call.invoke(get, { params: { id } });
    const link = linkTo(get, { id }, 'The whole source as JSON');
    return { text: sourceText(source, `${link.uri} has the whole`), links: [link], data: source };
  },
});

const MAX_LISTED = 10;

function sourceText(source: FeedbackSourceDetails, rest: string): string {
  const { evidence, dkim, spf, signatures, overrides, address_list, test, setup_steps } = source;
  return answerText(
    [
      kept(sourceLine(source)),
      kept(`Period: ${source.from} to ${source.to}.`),
      kept(clean(evidence)),
      `Aligned: ${dkim} by DKIM, ${spf} by SPF`,
      ...setup_steps.map(({ text, guide }) => `Set up: ${clean(text)} ${guide}`),
      test
        ? `Test ${test.id} (${test.score ?? 'score unknown'}): ${clean(test.finding ?? 'no finding')} ${clean(test.fix ?? '')}`
        : '',
      ...overrides
        .slice(0, MAX_LISTED)
        .map(
          ({ name, messages, meaning, fix }) =>
            `${clean(name)} (${messages}): ${clean(meaning)} ${clean(fix)}`,
        ),
      ...signatures
        .slice(0, MAX_LISTED)
        .map(
          ({ domain, selector, result, messages }) =>
            `DKIM d=${quoted(domain)} s=${quoted(selector)}: ${clean(result ?? 'unknown')} on ${messages}`,
        ),
      ...address_list
        .slice(0, MAX_LISTED)
        .map(
          ({ address, host, messages, passed }) =>
            `Address ${address} ${quoted(host)}: ${passed} of ${messages} pass`,
        ),
    ],
    rest,
  );
}

export const feedbackTools = [getFeedback, getSource];
