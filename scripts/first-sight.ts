/**
 * How many whole mails, or domains, of a folder are judged as a person judged them in writing before.
 * `npm exec -- tsx scripts/first-sight.ts test/fixtures/unseen [GROUP…]` prints what differs, and the count.
 */

import { resolve } from 'node:path';
import { CHECKS } from '../src/analysis/checks/index.ts';
import { checkJudged, domainDifferences, judgedDomains } from '../test/helpers/domain-corpus.ts';
import {
  type Difference,
  differencesOf,
  loadMail,
  mailNames,
  mistakesIn,
} from '../test/helpers/mail-corpus.ts';

const [folder = 'test/fixtures/unseen', ...groups] = process.argv.slice(2);
const root = resolve(folder);

interface Case {
  name: string;
  group: string;
  judge(): Promise<Difference[]>;
}

function mails(): Case[] {
  const ids = new Set(CHECKS.map(({ id }) => id));
  return mailNames('json', root).map((name) => {
    const mail = loadMail(name, root);
    const mistakes = mistakesIn(mail, ids);
    if (mistakes.length > 0) throw new Error(`${name}: unknown ${mistakes.join(', ')}`);
    return { name, group: mail.group, judge: () => differencesOf(mail) };
  });
}

const domains = (): Case[] =>
  judgedDomains(root).map((world) => ({
    name: world.name,
    group: world.group,
    judge: async () => domainDifferences(world, await checkJudged(world)),
  }));

const cases = (root.endsWith('domains') ? domains() : mails()).filter(
  ({ group }) => groups.length === 0 || groups.includes(group),
);

const short = (value: unknown): string => {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > 600 ? `${text.slice(0, 600)}…` : text;
};

async function differencesIn(one: Case): Promise<Difference[]> {
  try {
    return await one.judge();
  } catch (error) {
    return [{ key: 'analysis', expected: 'a result', found: (error as Error).message }];
  }
}

const right = new Map<string, number>();
const all = new Map<string, number>();
const count = (map: Map<string, number>, group: string) =>
  map.set(group, (map.get(group) ?? 0) + 1);

for (const one of cases) {
  const differences = await differencesIn(one);
  count(all, one.group);
  if (differences.length === 0) count(right, one.group);
  console.log(`${differences.length === 0 ? 'right' : 'WRONG'} ${one.name}`);
  for (const { key, expected, found } of differences)
    console.log(`      ${key}: expected ${short(expected)}\n        found ${short(found)}`);
}

for (const [group, total] of all) console.log(`${group}: ${right.get(group) ?? 0} of ${total}`);
const sum = [...right.values()].reduce((one, other) => one + other, 0);
console.log(`${sum} of ${cases.length} right (${((100 * sum) / cases.length).toFixed(1)} %)`);
