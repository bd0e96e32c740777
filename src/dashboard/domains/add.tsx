/** Adding domains with the form, and the page with the result of a list: a line for each, with its lookup as it arrives. */

import * as v from 'valibot';
import { readDomain, splitPasted } from '../../analysis/domain/read-pasted.ts';
import { countLookupsInProgress } from '../../domains/first-lookup.ts';
import { lookupOperations } from '../../domains/lookup-routes.ts';
import { domainOperations } from '../../domains/routes.ts';
import type { ListedDomain } from '../../domains/schema.ts';
import { DOMAIN_STATES } from '../../domains/states.ts';
import { formatCount } from '../../lib/format/numbers.ts';
import { readableDomain } from '../../lib/readable-domain.ts';
import { oneLine, sanitize } from '../../report/blocks.ts';
import { StateMark } from '../../ui/components.tsx';
import { appPage } from '../frame/app-page.tsx';
import { Card } from '../frame/card.tsx';
import { readForm, submit } from '../frame/form.tsx';
import { seeOther } from '../frame/page.tsx';
import { form, page } from '../frame/page-route.ts';
import { Score, Waiting } from '../frame/states.tsx';
import { DataTable, pathWith } from '../frame/table.tsx';
import { splitTags, tagLabels } from '../frame/tags-field.tsx';
import { allDomains } from './all-domains.ts';
import { DOMAINS, renderDomains } from './list.tsx';
import { DomainStateMark } from './states.tsx';

const ADDED = `${DOMAINS}/added`;
/** Of the texts in the URL of the page. Some proxies accept 8 kB. */
const MAX_URL_TEXT = 6_000;

const add = form({
  path: DOMAINS,
  operation: 'submitDomain',
  role: 'member',
  summary: 'Add domains with the form',
  async handle(call) {
    const field = readForm(call.raw);
    const typed = { name: field('name'), names: field('names'), tags: field('tags') };
    const texts = splitPasted(`${typed.name}\n${typed.names}`);
    const tags = splitTags(typed.tags);
    const labels = { name: 'domain name', ...tagLabels(tags) };
    if (texts.length <= 1) {
      const body = { name: texts[0] ?? '', tags };
      const added = await submit(labels, () => call.invoke(domainOperations.create, { body }));
      return added.problem
        ? renderDomains(call, { ...typed, problem: added.problem })
        : seeOther(`${DOMAINS}/${added.result.id}?done=added`);
    }
    const { result, problem } = await submit({ ...labels, names: 'list' }, () =>
      call.invoke(lookupOperations.addMany, { body: { names: texts, tags } }),
    );
    if (problem) return renderDomains(call, { ...typed, problem });
    const linesWith = (wanted: string) => result.lines.filter((line) => line.result === wanted);
    const wrong = linesWith('invalid').map(({ text }) => text);
    const existing = linesWith('exists').map(({ name }) => name!);
    const fits = [[...wrong, ...existing], wrong]
      .map((lines) => lines.join('\n'))
      .find((text) => encodeURIComponent(text).length <= MAX_URL_TEXT);
    if (fits !== undefined)
      return seeOther(pathWith(ADDED, { at: result.created_at, others: fits || undefined }));
    // So many are wrong that they stay in the form.
    const notice = `${formatCount(linesWith('added').length, 'domain')} added. The ${wrong.length} texts in the list below are not domain names.`;
    return renderDomains(call, {
      names: wrong.join('\n'),
      tags: typed.tags,
      problem: { status: 422, notice, fields: {}, headers: {} },
    });
  },
});

const Query = v.strictObject({
  at: v.optional(v.string()),
  /** Texts that are wrong, or name domains that the team had already. */
  others: v.optional(v.string(), ''),
});

const isDone = ({ health }: ListedDomain): boolean => health.checked_at !== null;

const order = (domain: ListedDomain): number =>
  isDone(domain) ? DOMAIN_STATES.indexOf(domain.health.status) : DOMAIN_STATES.length;

const show = page({
  path: ADDED,
  operation: 'showAddedDomains',
  role: 'member',
  summary: 'Show the result of adding domains',
  query: Query,
  async handle(call) {
    const { at = '', others } = call.query;
    const domains = (await allDomains(call, { created_at: at })).toSorted(
      (a, b) => order(a) - order(b) || (a.name < b.name ? -1 : 1),
    );
    const open = await countLookupsInProgress(call.app, at);
    const texts = others.split('\n').filter(Boolean);
    return appPage(call, {
      title: 'Added domains',
      section: 'domains',
      path: pathWith(ADDED, { at, others: others || undefined }),
      parents: [{ href: DOMAINS, text: 'Domains' }],
      calls: [{ route: domainOperations.list, query: { created_at: at } }],
      actions: domains.length > 0 && (
        <a class="button" href={`${DOMAINS}/verify`}>
          Verify them
        </a>
      ),
      children: (
        <>
          <Progress domains={domains} open={open} />
          {texts.length > 0 && <Others texts={texts} />}
        </>
      ),
    });
  },
});

function Progress({ domains, open }: { domains: ListedDomain[]; open: number }) {
  const total = domains.length;
  const done = domains.filter(isDone).length;
  const text =
    open > 0
      ? `${done} of ${formatCount(total, 'domain')} looked up`
      : total === 0
        ? 'No new domains'
        : `${formatCount(total, 'domain')} added and looked up`;
  return (
    <section
      class="card panel"
      id="added"
      aria-labelledby="added-title"
      data-refresh={open > 0 ? '' : undefined}
      data-status={open > 0 ? undefined : text}
    >
      <h2 id="added-title">{text}</h2>
      {open > 0 && <progress class="lookup-progress" value={done} max={total} aria-label={text} />}
      {total > 0 && (
        <DataTable
          label="Added domains"
          rows={domains}
          keyOf={({ id }) => id}
          hrefOf={({ id }) => `${DOMAINS}/${id}`}
          columns={[
            { title: 'Domain', cell: ({ name }) => <bdi>{readableDomain(name)}</bdi> },
            {
              title: 'Public DNS',
              cell: (domain) =>
                isDone(domain) ? (
                  <DomainStateMark state={domain.health.status} />
                ) : (
                  <Waiting>Looking up</Waiting>
                ),
            },
            {
              title: 'Score',
              number: true,
              cell: ({ health }) => <Score score={health.score} grade={null} />,
            },
          ]}
        />
      )}
    </section>
  );
}

const Others = ({ texts }: { texts: string[] }) => (
  <Card title={`Not added: ${texts.length}`} id="not-added">
    <ul class="findings">
      {texts.map((text) => {
        const { name, fault } = readDomain(text);
        return (
          <li key={text}>
            {name === null ? (
              <p>
                <StateMark state="warn" word="Not a domain:" /> “{oneLine(text, 80)}”{' '}
                {sanitize(fault)}.
              </p>
            ) : (
              <p>
                <StateMark state="info" word="Already added:" />{' '}
                <a href={pathWith(`${DOMAINS}/lookup`, { name })}>{readableDomain(name)}</a>
              </p>
            )}
          </li>
        );
      })}
    </ul>
  </Card>
);

export const domainAddPages = [add, show];
