/** The tool that compares all domains of the team. */

import * as v from 'valibot';
import { domainOperations } from '../domains/routes.ts';
import { described, wholeNumber } from '../http/schemas.ts';
import { tool } from '../http/tool.ts';
import { answerText, clean, NEXT_PAGE } from '../http/tool-text.ts';
import { formatCount, rateInWords } from '../lib/format/numbers.ts';
import { tableOperations } from './routes.ts';
import { TableQuery, type TableRow } from './schema.ts';

const { table } = tableOperations;
const { q, tag, sort, next_step, starting_after } = TableQuery.entries;

export const compareDomains = tool({
  name: 'compare_domains',
  title: 'Compare domains',
  description:
    'Returns a table of the domains of the team, those with the worst problem first. It has headline, DMARC policy, pass rates, spam rate, placement, last change and next step. Start here for questions such as "Which of our domains is broken?" A client has a tag such as client:acme. Use get_domain for one domain.',
  uses: [table],
  resources: [domainOperations.get],
  answers: table,
  input: v.strictObject({
    q,
    tag,
    next_step,
    sort,
    starting_after,
    limit: v.optional(described(wholeNumber(1, 100), 'How many domains.', 30), 30),
  }),
  async run({ limit, ...query }, call) {
    const page = await call.invoke(table, { query: { ...query, limit: String(limit) } });
    const { data, has_more } = page;
    if (data.length === 0) return { text: 'No domains match.', data: page };
    const more = has_more ? ` There are more: ${NEXT_PAGE}.` : '';
    return {
      data: page,
      text: answerText(
        [`${formatCount(data.length, 'domain')}.${more}`, ...data.map(rowText)],
        NEXT_PAGE,
      ),
    };
  },
});

/** What is not known is left out, or says so. */
function rowText(row: TableRow): string {
  const { id, name, state, tags, policy, pass_rates, spam_rate, placement, last_change } = row;
  const inbox = placement?.inbox_rate ?? null;
  const facts = [
    tags.join(', '),
    policy && (policy.p === null ? 'no DMARC policy' : `p=${policy.p} pct=${policy.pct}`),
    pass_rates.dmarc !== null &&
      `DMARC ${rateInWords(pass_rates.dmarc)} of ${formatCount(pass_rates.messages, 'message')}`,
    spam_rate && `spam ${rateInWords(spam_rate.rate)} on ${spam_rate.day}`,
    inbox !== null && `inbox ${rateInWords(inbox)}`,
    last_change && `${last_change.records} changed on ${last_change.at.slice(0, 10)}`,
  ];
  const headline = row.headline ?? 'not read yet';
  const step = row.next_step ? ` Next: ${clean(row.next_step.text)}` : '';
  return `- ${name} (${id}): ${state}. ${clean(headline)}.${step} [${facts
    .filter(Boolean)
    .map((fact) => clean(String(fact)))
    .join('; ')}]`;
}

export const tableTools = [compareDomains];
