/** The check `fcrdns`: does the client's name resolve back to its address? */

import { normalizeAddress, reverseName } from '../../lib/addresses.ts';
import { recordsOf } from '../../net/dns/resolver.ts';
import {
  type Check,
  fail,
  notAnswered,
  offline,
  PUBLIC_UNANSWERED,
  pass,
  rfc,
  skipped,
  type Unanswered,
} from '../check.ts';
import { clientPtr, publicClient, usableNames } from '../dns/names.ts';

const NOT_CHECKED = 'The name of the client was not resolved back.';
const NOT_KNOWN = 'It could not be found out whether the name of the client resolves back to it.';

/** Forward-confirmed reverse DNS, the `iprev` method; one name of several is enough. */
export const fcrdns: Check = {
  id: 'fcrdns',
  category: 'infrastructure',
  points: 6,
  label: 'Forward-confirmed reverse DNS',
  issueTitle: 'The reverse DNS name does not resolve back',
  reference: rfc(8601, '3'),
  dependsOn: ['ptr'],
  publicEvidence: {
    client_ip: 'shown',
    resolved: { name: 'shown', addresses: 'shown' },
    ...PUBLIC_UNANSWERED,
  },
  async run(context) {
    const client = publicClient(context);
    if (client.address === null) return skipped(NOT_CHECKED, client.reason);
    if (context.offline) return offline(NOT_CHECKED);
    const { address } = client;
    const answer = (await context.fact(clientPtr))!;
    if (answer.status === 'error')
      return notAnswered(NOT_KNOWN, [
        { name: reverseName(address), type: 'PTR', reason: answer.reason },
      ]);
    const names = usableNames(answer);
    if (names.length === 0)
      return skipped(NOT_CHECKED, 'There is no name to resolve: follows from ptr.');
    const type = address.includes(':') ? 'AAAA' : 'A';
    const answers = await Promise.all(names.map((name) => context.resolver(name, type)));
    const resolved = names.map((name, index) => ({
      name,
      addresses: (recordsOf(answers[index]!) ?? []).slice(0, 20),
    }));
    const evidence = { client_ip: address, resolved };
    const confirmed = names.find((_, index) =>
      recordsOf(answers[index]!)?.some((text) => normalizeAddress(text) === address),
    );
    if (confirmed !== undefined)
      return pass(
        `${confirmed} resolves back to ${address}.`,
        'The name and the address of the server confirm each other.',
        evidence,
      );
    const failures = answers.flatMap((one, index): Unanswered[] =>
      one.status === 'error' ? [{ name: names[index]!, type, reason: one.reason }] : [],
    );
    if (failures.length > 0) return notAnswered(NOT_KNOWN, failures, evidence);
    return fail({
      title: `${names[0]} does not resolve back to ${address}.`,
      detail:
        'Anyone can claim any name in a PTR record, so receivers look the name up and compare. Gmail refuses mail where the two do not agree (5.7.25).',
      fix: {
        text: `Publish this record beside those that ${names[0]} has, or ask the provider of ${address} for a PTR record with a name that resolves to it.`,
        record: { type, name: names[0]!, value: address },
      },
      evidence,
    });
  },
};
