/** The check `helo`: does the client introduce itself by a full name that is its own? */

import { normalizeAddress } from '../../lib/addresses.ts';
import { type DnsAnswer, recordsOf } from '../../net/dns/resolver.ts';
import {
  type Check,
  type Context,
  type Finding,
  fail,
  notAnswered,
  offline,
  PUBLIC_UNANSWERED,
  pass,
  rfc,
  skipped,
  warn,
} from '../check.ts';
import { clientPtr, fullHostName, proposedName, publicClient, usableNames } from '../dns/names.ts';

const NOT_CHECKED = 'The HELO name was not checked.';

export const helo: Check = {
  id: 'helo',
  category: 'infrastructure',
  points: 4,
  label: 'HELO name',
  issueTitle: 'The HELO name does not lead to the server',
  reference: rfc(5321, '4.1.1.1'),
  publicEvidence: {
    helo: 'shown',
    client_ip: 'shown',
    addresses: 'shown',
    length: 'shown',
    ...PUBLIC_UNANSWERED,
  },
  async run(context) {
    const client = publicClient(context);
    if (client.address === null) return skipped(NOT_CHECKED, client.reason);
    const said = context.envelope.helo;
    if (said === null) return skipped(NOT_CHECKED, 'What the client said in HELO is not known.');
    const name = fullHostName(said);
    // Whatever is no name is judged as it stands and never asked for.
    if (name === null) return notAName(context, said);
    return context.offline ? offline(NOT_CHECKED) : resolveName(context, name, client.address);
  },
};

async function resolveName(context: Context, name: string, address: string): Promise<Finding> {
  const types = address.includes(':') ? (['AAAA', 'A'] as const) : (['A', 'AAAA'] as const);
  const [same, other] = (await Promise.all(types.map((type) => context.resolver(name, type)))) as [
    DnsAnswer,
    DnsAnswer,
  ];
  const addresses = [same, other].flatMap((answer) => recordsOf(answer) ?? []).slice(0, 20);
  const evidence = { helo: name, client_ip: address, addresses };
  if (addresses.some((text) => normalizeAddress(text) === address))
    return pass(
      `The server calls itself ${name}, which resolves to it.`,
      'The name in HELO is a full one and belongs to the client.',
      evidence,
    );
  const failures = [same, other].flatMap((answer, index) =>
    answer.status === 'error' ? [{ name, type: types[index]!, reason: answer.reason }] : [],
  );
  // With an answer for the client's own family, the other one only matters where that is empty.
  if (same.status === 'error' || (other.status === 'error' && same.status !== 'found'))
    return notAnswered('The HELO name could not be looked up.', failures, evidence);
  const fix = {
    text: `Publish this record beside those that ${name} has, or have the server say a name in HELO that resolves to ${address}.`,
    record: { type: types[0], name, value: address },
  };
  const found =
    addresses.length === 0
      ? fail({
          title: `The server calls itself ${name}, which does not resolve.`,
          detail: 'Many receivers refuse a server whose HELO name has no address in the DNS.',
          fix,
          evidence,
        })
      : warn({
          title: `The server calls itself ${name}, which resolves to another address.`,
          detail: `The name has an address, but not ${address}. Filters take this for a sign of a badly set up or dishonest server.`,
          fix,
          evidence,
        });
  // The same name in reverse DNS lacks the same record: one cause.
  const reverse = await context.fact(clientPtr);
  const same_name = reverse !== null && usableNames(reverse).includes(name);
  return same_name ? { ...found, dependsOn: ['fcrdns'] } : found;
}

async function notAName(context: Context, said: string): Promise<Finding> {
  const answer = context.offline ? null : await context.fact(clientPtr);
  const name = (answer && usableNames(answer)[0]) ?? proposedName(context);
  return fail({
    title: `The server ${describe(said)} in HELO instead of its full name.`,
    detail:
      'Receivers expect the full host name of the server, and many refuse or distrust anything else.',
    fix: `Have the mail server say its full host name in HELO, such as ${name} (in Postfix: smtp_helo_name = ${name}).`,
    evidence: { helo: said.slice(0, 200).toWellFormed(), length: said.length },
  });
}

function describe(said: string): string {
  if (said.trim() === '') return 'says nothing';
  if (said.length <= 60 && normalizeAddress(said) !== null) return 'gives an address';
  if (/^[a-z0-9.-]{1,60}$/i.test(said)) return `gives “${said}”`;
  return 'gives something that is not a host name';
}
