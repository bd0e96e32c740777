/**
 * What is missing at Google Postmaster Tools and Microsoft SNDS, from the state that the service stored. With `--receivers`,
 * each account is fetched first, as `receivers fetch` does beside a running service.
 */

import { PREFIX } from '../../config/config.ts';
import { RECEIVER_NAMES, type ReceiverAccount } from '../../config/receivers.ts';
import { DAY_MS } from '../../lib/durations.ts';
import { accountState, expiryOf, isPassing } from '../../receivers/account-state.ts';
import { countOf, NO_DATA, partText } from '../../receivers/fetch.ts';
import { type FetchResult, fetchNow } from '../../receivers/fetch-account.ts';
import { type ReceiverState, receiverStates } from '../../receivers/queries.ts';
import { assembleService } from '../../service.ts';
import { signInAdvice } from '../../sign-ins/sign-in.ts';
import { SCHEMA_VERSION } from '../../store/migrations/index.ts';
import type { Db } from '../../store/open.ts';
import type { ReceiverDomainRow, ReceiverRow } from '../../store/tables.generated.ts';
import { VERSION } from '../../version.ts';
import { type Checkup, type Finding, ok, problem, timeText, unknown, warning } from './finding.ts';

/** The service fetches once a day. */
const MAX_AGE_MS = 2 * DAY_MS;
/** Findings about domains; the rest is one finding. */
const MAX_DOMAINS = 20;

export async function receiverFindings(checkup: Checkup): Promise<Finding[]> {
  const { config, clock, store } = checkup;
  const summary = { id: 'receivers', title: 'Receivers' };
  if (config.RECEIVERS.length === 0) return [{ ...summary, ...ok('Not configured.') }];
  if ('fault' in store || store.version !== SCHEMA_VERSION)
    return [
      {
        ...summary,
        ...unknown(
          'Their state is in the database, which can’t be read.',
          'Fix the database first.',
        ),
      },
    ];
  const { db } = store;
  const found = checkup.tryReceivers ? await fetchAll(checkup) : null;
  const states = await receiverStates({ db, config });
  const findings: Finding[] = [];
  for (const state of states) {
    const { account } = state;
    const finding = await accountFinding(db, state, clock.now());
    findings.push({
      id: `receiver:${account.name}`,
      title: titleOf(account),
      ...finding,
      evidence: finding.evidence + (found?.get(account.name) ?? ''),
    });
  }
  return [...findings, ...(await domainFindings(db, states))];
}

const titleOf = ({ name, receiver }: ReceiverAccount): string =>
  name === receiver ? RECEIVER_NAMES[receiver] : `${RECEIVER_NAMES[receiver]} (${name})`;

/** What each fetch found, in words. */
async function fetchAll({ config }: Checkup): Promise<Map<string, string>> {
  const { app, close } = await assembleService(config, VERSION);
  try {
    const found = new Map<string, string>();
    const { signal } = new AbortController();
    for (const account of config.RECEIVERS)
      found.set(account.name, foundText(await fetchNow(app, account, signal)));
    return found;
  } finally {
    await close();
  }
}

const MAX_PARTS = 10;

/** `result`: null if the service was fetching from the account itself. */
function foundText(result: FetchResult | null): string {
  if (result === null) return ' The service is fetching right now.';
  const read = result.parts.filter(({ problem }) => problem === null);
  const found = read.filter((part) => part.found !== NO_DATA);
  const texts = found.slice(0, MAX_PARTS).map(partText);
  if (found.length > MAX_PARTS) texts.push(`${found.length - MAX_PARTS} more`);
  const without = read.length - found.length;
  if (without > 0) texts.push(`no data for ${countOf(without, 'day', 'days')}`);
  return texts.length > 0 ? ` Found now: ${texts.join('; ')}.` : ' Nothing was found.';
}

// The accounts.

async function accountFinding(db: Db, { account, row }: ReceiverState, now: number) {
  const { name } = account;
  if (row && row.problem !== null) return problemFinding(account, row, now);
  if (!row || row.fetched_at === null) {
    const { oauth } = account;
    if (oauth && oauth.refreshToken === null && !(await hasSignIn(db, name)))
      return problem(
        'Nobody has signed in to this account yet.',
        signInAdvice({ kind: 'receiver', name, oauth }),
      );
    return unknown(
      'Nothing has been fetched from this account yet.',
      `Start the service, or run: deliverability receivers fetch ${name}`,
    );
  }
  const fetched = `Last fetched on ${timeText(row.fetched_at)}.`;
  if (now - Date.parse(row.fetched_at) > MAX_AGE_MS)
    return warning(
      `${fetched} The service fetches once a day.`,
      `Check that the service is running. To see why, run: deliverability receivers fetch ${name}`,
    );
  const ending = expiryOf(account, row, now);
  return ending
    ? warning(`${fetched} ${ending.message}`, 'Renew the access before it ends.')
    : ok(fetched);
}

function problemFinding(account: ReceiverAccount, row: ReceiverRow, now: number) {
  const { name } = account;
  const lastFetch =
    row.fetched_at === null
      ? 'Nothing was fetched before.'
      : `Last fetched on ${timeText(row.fetched_at)}.`;
  const evidence = `${row.problem_detail ?? row.problem} ${lastFetch}`;
  if (accountState(row) === 'not_signed_in')
    return problem(evidence, 'After you sign in, the service continues automatically.');
  const fetchNow = `deliverability receivers fetch ${name}`;
  if (!isPassing(row.problem!))
    return problem(
      evidence,
      account.oauth
        ? `Fix this at the receiver or in ${PREFIX}RECEIVERS, then run: ${fetchNow}`
        : `Fix the key in ${PREFIX}RECEIVERS, then restart the service.`,
    );
  const isLasting = now - Date.parse(row.failing_since ?? row.attempted_at ?? '') > MAX_AGE_MS;
  return (isLasting ? problem : warning)(
    evidence,
    `The service keeps retrying. Check the connection from this machine, then run: ${fetchNow}`,
  );
}

async function hasSignIn(db: Db, name: string): Promise<boolean> {
  const query = db.selectFrom('receiver_credentials').select('id').where('id', '=', name);
  return (await query.executeTakeFirst()) !== undefined;
}

// The domains of the team at Google.

/** What keeps the verified domains of the team from having figures of Google; empty before the first fetch. */
async function domainFindings(db: Db, states: ReceiverState[]): Promise<Finding[]> {
  const accounts = states.flatMap(({ account, row }) =>
    account.receiver === 'google_postmaster' && row && row.fetched_at !== null
      ? [account.name]
      : [],
  );
  if (accounts.length === 0) return [];
  const domains = await db
    .selectFrom('domains')
    .select('name')
    .where('status', '=', 'verified')
    .orderBy('name')
    .execute();
  const shown = await db
    .selectFrom('receiver_domains')
    .selectAll()
    .where('receiver_id', 'in', accounts)
    .orderBy('receiver_id')
    .execute();
  const faults = domains.flatMap(({ name }) => {
    const fault = domainFault(
      name,
      accounts,
      shown.filter((row) => row.name === name),
    );
    return fault ? [{ id: `receiver_domain:${name}`, title: `Gmail: ${name}`, ...fault }] : [];
  });
  const rest = faults.length - MAX_DOMAINS;
  if (rest <= 0) return faults;
  const others = {
    id: 'receiver_domains',
    title: 'Gmail: other domains',
    ...warning(
      `${rest} more domains have no Gmail figures.`,
      'To see the domains of each account, run: deliverability receivers list',
    ),
  };
  return [...faults.slice(0, MAX_DOMAINS), others];
}

/** Null if an account can read the domain. */
function domainFault(name: string, accounts: string[], rows: ReceiverDomainRow[]) {
  if (rows.some((row) => row.problem === null)) return null;
  const [row] = rows;
  if (!row)
    return warning(
      `${accounts.join(', ')} ${accounts.length === 1 ? 'doesn’t have' : 'don’t have'} this domain, so there are no Gmail figures for it.`,
      `Add ${name} in Google Postmaster Tools with the Google account of ${accounts.join(' or ')}, and verify it there.`,
    );
  return warning(
    `${row.problem_detail ?? row.problem} (${row.receiver_id})`,
    `After that, run: deliverability receivers fetch ${row.receiver_id}`,
  );
}
