/** The tool that tells what all sources say about a domain. */

import * as v from 'valibot';
import { DOMAIN_INPUT, domainIdOf, findsDomain } from '../domains/tools.ts';
import { linkTo, tool } from '../http/tool.ts';
import { answerText, clean, kept, recordText } from '../http/tool-text.ts';
import { formatCount } from '../lib/format/numbers.ts';
import { pictureOperations } from './routes.ts';
import type { FirstStep, Problem, Statement } from './schema.ts';

const { get } = pictureOperations;

export const getDomain = tool({
  name: 'get_domain',
  title: 'Get a domain',
  description:
    'Returns what all sources show about a domain of the team: DNS, tests of messages, placement in seed mailboxes, DMARC reports, Google Postmaster Tools and Microsoft SNDS. Problems are in order of impact, each with its first step and DNS record. It makes no lookups; use check_domain for current DNS. Start here for questions such as "Is our domain OK?"',
  uses: [...findsDomain, get],
  resources: [get],
  answers: get,
  input: v.strictObject({ domain: DOMAIN_INPUT }),
  async run({ domain }, call) {
    const id = await domainIdOf(domain, call);
    const picture = await call.invoke(get, { params: { id } });
    const link = linkTo(get, { id }, 'The whole picture as JSON');
    const { name, state, headline, problems, sources } = picture;
    return {
      text: answerText(
        [
          kept(`${name} (${id}): ${state}. ${clean(headline)}`),
          ...sources.map((source) =>
            kept(`- ${clean(source.name)}: ${source.state}. ${clean(source.text)}`),
          ),
          kept(problems.length > 0 ? `\n${formatCount(problems.length, 'problem')}.` : ''),
          ...problems.map((problem, i) => `\n${i + 1}. ${problemText(problem)}`),
        ],
        `${link.uri} has the whole`,
      ),
      links: [link],
      data: picture,
    };
  },
});

const MAX_STATEMENTS = 4;

function problemText(problem: Problem): string {
  const { state, topic, title, since, first_step, statements, is_disputed } = problem;
  return [
    `${state.toUpperCase()} ${topic}: ${clean(title)}${since === null ? '' : ` (since ${since})`}`,
    is_disputed ? 'Another source found no problem.' : '',
    ...statements.slice(0, MAX_STATEMENTS).map(statementText),
    stepText(first_step),
  ]
    .filter(Boolean)
    .join('\n');
}

const statementText = ({ origin, state, text, at }: Statement): string =>
  `- ${clean(origin)} (${state}${at === null ? '' : `, ${at.slice(0, 10)}`}): ${clean(text)}`;

const stepText = ({ text, record }: FirstStep): string =>
  `First step: ${clean(text)}${record === null ? '' : `\nRecord: ${recordText(record)}`}`;

export const pictureTools = [getDomain];
