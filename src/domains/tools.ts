/** The tools about the domains of the team. */

import * as v from 'valibot';
import { described, wholeNumber } from '../http/schemas.ts';
import { linkTo, type ToolAnswer, type ToolCall, tool } from '../http/tool.ts';
import { answerText, clean, NEXT_PAGE, quoted, recordText } from '../http/tool-text.ts';
import { normalizeDomain } from '../lib/domain-names.ts';
import { invalidParams } from '../lib/errors.ts';
import { formatCount } from '../lib/format/numbers.ts';
import { lookupOperations } from './lookup-routes.ts';
import { LookupQuery } from './lookup-schema.ts';
import { domainOperations } from './routes.ts';
import { type Domain, DomainListQuery, type ListedDomain, NewDomain } from './schema.ts';
import { healthText } from './tool-text.ts';

const { list, get, health, create, verify } = domainOperations;

/** The domain of a tool: models know names rather than IDs. */
export const DOMAIN_INPUT = described(
  v.pipe(
    v.string('must be text'),
    v.minLength(1, 'must not be empty'),
    v.maxLength(300, 'is too long'),
  ),
  'The domain: its name, or its ID (dom_…).',
  'example.com',
);

/** What finding the ID of a domain needs. */
export const findsDomain = [list];

/** The ID of a domain of the team. Rejects with `validation_failed` if there is none of this name. */
export async function domainIdOf(text: string, call: ToolCall): Promise<string> {
  const given = text.trim();
  if (/^dom_\w+$/.test(given)) return given;
  const name = normalizeDomain(given);
  const similar: string[] = [];
  // The list filters by a part of the name, which names of many subdomains contain.
  for (let starting_after: string | undefined; ; ) {
    const { data, has_more } = await call.invoke(list, {
      query: { q: name ?? given, limit: '100', starting_after },
    });
    const found = data.find((domain) => domain.name === name);
    if (found) return found.id;
    similar.push(...data.slice(0, 5 - similar.length).map((domain) => domain.name));
    if (!has_more || name === null) break;
    starting_after = data.at(-1)!.id;
  }
  const hint = similar.length > 0 ? ` (similar: ${similar.join(', ')})` : '';
  const message = `the team has no domain ${quoted(given)}${hint}; list_domains shows all`;
  throw invalidParams([{ param: 'domain', code: 'invalid', message }]);
}

const domainResource = (id: string) => linkTo(get, { id }, 'The whole domain as JSON');

export const listDomains = tool({
  name: 'list_domains',
  title: 'List domains',
  description:
    'Lists the domains of the team, with the health of their DNS. Use get_domain for the problems of one domain.',
  uses: [list],
  resources: [get],
  answers: list,
  input: v.strictObject({
    q: DomainListQuery.entries.q,
    health: DomainListQuery.entries.health,
    starting_after: DomainListQuery.entries.starting_after,
    limit: v.optional(described(wholeNumber(1, 100), 'How many domains.', 30), 30),
  }),
  async run({ limit, ...query }, call) {
    const page = await call.invoke(list, { query: { ...query, limit: String(limit) } });
    const { data, has_more } = page;
    if (data.length === 0) return { text: 'No domains match.', data: page };
    const more = has_more ? ` There are more: ${NEXT_PAGE}.` : '';
    return {
      data: page,
      text: answerText(
        [`${formatCount(data.length, 'domain')}, newest first.${more}`, ...data.map(listedText)],
        NEXT_PAGE,
      ),
    };
  },
});

function listedText({ id, name, status, missing_since, health }: ListedDomain): string {
  const proof = missing_since === null ? status : `${status}, but its record is missing`;
  const score = health.score === null ? '' : `, ${health.score}/100`;
  const time = health.checked_at === null ? 'never checked' : `on ${health.checked_at}`;
  return `- ${name} (${id}): ${health.status}${score} ${time}; ${proof}`;
}

export const CHECK_DOMAIN_TEXT =
  'Looks up the DNS of a domain now, and connects to its mail servers: SPF, DKIM keys, DMARC, MX, TLS, MTA-STS, BIMI, DANE and blocklists. Returns what to fix, worst first, and the records to publish.';

export const checkDomain = tool({
  name: 'check_domain',
  title: 'Check a domain',
  description: `${CHECK_DOMAIN_TEXT} Existing records are merged. The domain must be one of the team. Use it again after a record was published.`,
  uses: [...findsDomain, health],
  resources: [get],
  answers: health,
  input: v.strictObject({ domain: DOMAIN_INPUT }),
  async run({ domain }, call) {
    const id = await domainIdOf(domain, call);
    call.progress('looking up the DNS');
    const result = await call.invoke(health, { params: { id } });
    const link = domainResource(id);
    const head = result.checked_at === null ? 'Not checked yet.' : `Checked ${result.checked_at}`;
    return {
      text: healthText([head], result as never, result.records, `${link.uri} has the whole`),
      links: [link],
      data: result,
    };
  },
});

export const lookUpDomain = tool({
  name: 'look_up_domain',
  title: 'Look at any domain',
  description:
    'Returns what public DNS says about any domain within 5 seconds, with what to fix. The domain need not be one of the team, and nothing is stored. Use check_domain for a domain of the team.',
  uses: [lookupOperations.lookup],
  answers: lookupOperations.lookup,
  input: LookupQuery,
  async run(query, call) {
    const result = await call.invoke(lookupOperations.lookup, { query });
    const rest = 'DNS did not answer everything in time. Ask again for the rest.';
    return {
      text: healthText(
        [`Looked at ${result.checked_at}`, ...(result.is_complete ? [] : [rest])],
        result as never,
        null,
        'check_domain has the whole, once the domain is one of the team',
      ),
      data: result,
    };
  },
});

export const addDomain = tool({
  name: 'add_domain',
  title: 'Add a domain',
  description:
    'Adds a domain to the team, so that it is checked every day and receives DMARC reports. Returns the record that verifies it.',
  effect: 'writes',
  uses: [create],
  resources: [get],
  answers: create,
  input: v.strictObject({
    name: NewDomain.entries.name,
    dkim_selectors: NewDomain.entries.dkim_selectors,
  }),
  async run(input, call) {
    return verificationAnswer(await call.invoke(create, { body: input }));
  },
});

export const verifyDomain = tool({
  name: 'verify_domain',
  title: 'Verify a domain',
  description:
    'Looks up the verification record of a domain now, and returns whether the domain is verified.',
  effect: 'writes',
  isRepeatable: true,
  uses: [...findsDomain, verify],
  resources: [get],
  answers: verify,
  input: v.strictObject({ domain: DOMAIN_INPUT }),
  async run({ domain }, call) {
    const id = await domainIdOf(domain, call);
    return verificationAnswer(await call.invoke(verify, { params: { id } }));
  },
});

function verificationAnswer(domain: Domain): ToolAnswer {
  const { id, name, status, verification, last_check_detail } = domain;
  const next =
    status === 'verified'
      ? 'Next: check_domain, or get_domain.'
      : `Publish this record, then call verify_domain:\n${recordText(verification)}`;
  const detail = status === 'verified' ? '' : clean(last_check_detail ?? '');
  return {
    text: answerText([`${name} (${id}): ${status}`, detail, next], id),
    links: [domainResource(id)],
    data: domain,
  };
}

export const domainTools = [listDomains, checkDomain, lookUpDomain, addDomain, verifyDomain];
