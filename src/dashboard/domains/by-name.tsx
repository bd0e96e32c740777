/** The DNS lookup of any domain by its name: what public DNS says. It can be shared inside the team, and needs no verification. */

import * as v from 'valibot';
import { readDomain, splitPasted } from '../../analysis/domain/read-pasted.ts';
import { lookupOperations } from '../../domains/lookup-routes.ts';
import { findDomainByName } from '../../domains/queries.ts';
import { allows } from '../../http/actor.ts';
import type { ResultOf } from '../../http/route.ts';
import { readableDomain } from '../../lib/readable-domain.ts';
import { ActionButton } from '../frame/action.tsx';
import { appPage, type PageCall } from '../frame/app-page.tsx';
import { Card } from '../frame/card.tsx';
import { type FormProblem, Notice, ProblemNotice, submit, TextField } from '../frame/form.tsx';
import { seeOther } from '../frame/page.tsx';
import { page } from '../frame/page-route.ts';
import { pathWith } from '../frame/table.tsx';
import { Findings, LookupInProgress } from './health.tsx';
import { DOMAINS } from './list.tsx';

const PATH = `${DOMAINS}/lookup`;

const Query = v.strictObject({
  name: v.optional(v.string(), ''),
  // The other fields of the form to add domains.
  names: v.optional(v.string()),
  tags: v.optional(v.string()),
});

const MANY: FormProblem = {
  status: 422,
  notice: null,
  fields: { name: 'Look up one domain at a time, or add them all to the team.' },
  headers: {},
};

const show = page({
  path: PATH,
  operation: 'showDomainLookup',
  limited: true,
  role: 'viewer',
  summary: 'Show what public DNS says about a domain',
  query: Query,
  async handle(call) {
    const { name: typed, names = '' } = call.query;
    const texts = splitPasted(`${typed}\n${names}`);
    const name = texts[0] ?? '';
    const read = readDomain(name).name;
    const isMember = allows(call.actor.role, 'member');
    const existing = isMember && read ? await findDomainByName(call.app.db, read) : undefined;
    if (existing && texts.length === 1) return seeOther(`${DOMAINS}/${existing.id}`);
    if (texts.length > 1) return render(call, typed, { problem: MANY });
    const { result, problem } = await submit({ name: 'domain name' }, () =>
      call.invoke(lookupOperations.lookup, { query: { name } }),
    );
    return render(call, name, problem ? { problem } : { lookup: result });
  },
});

type Lookup = ResultOf<typeof lookupOperations.lookup>;

function render(
  call: PageCall,
  text: string,
  { lookup, problem = null }: { lookup?: Lookup; problem?: FormProblem | null },
) {
  const { actor } = call;
  const canAdd = allows(actor.role, 'member') && actor.livemode && actor.tags === null;
  const name = lookup?.name ?? text;
  const { note } = readDomain(text);
  return appPage(call, {
    title: lookup ? readableDomain(lookup.name) : 'Look up a domain',
    section: allows(call.actor.role, 'member') ? 'domains' : null,
    path: pathWith(PATH, { name }),
    parents: allows(call.actor.role, 'member') ? [{ href: DOMAINS, text: 'Domains' }] : [],
    status: problem?.status,
    headers: problem?.headers,
    actions: lookup && canAdd && (
      <ActionButton action={DOMAINS} fields={{ name: text }} primary>
        Add domain
      </ActionButton>
    ),
    calls: [{ route: lookupOperations.lookup, query: { name } }],
    children: (
      <>
        {note && <Notice tone="info">{note}</Notice>}
        {lookup && (
          <div class="page" id="lookup" data-refresh={lookup.is_complete ? undefined : ''}>
            {!lookup.is_complete && <LookupInProgress name={lookup.name} isEmpty={false} />}
            <Card title="What public DNS says" id="health">
              <Findings
                domain={{ name: lookup.name, health: { ...lookup, unanswered_since: null } }}
              />
            </Card>
          </div>
        )}
        <form method="get" action={PATH} class="card panel">
          {problem?.notice && <ProblemNotice problem={problem} />}
          <div class="add-domain-row">
            <TextField
              name="name"
              label={lookup ? 'Look up another domain' : 'Domain'}
              hint="A name, web address or email address. Nothing is stored."
              value={lookup ? undefined : text}
              error={problem?.fields.name}
              focus={problem !== null}
            />
            <button type="submit" class="button">
              Look up
            </button>
          </div>
        </form>
      </>
    ),
  });
}

export const domainLookupPages = [show];
