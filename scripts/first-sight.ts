/**
 * How many whole mails of a folder are judged as a consultant judged them in writing before.
 * `npm exec -- tsx scripts/first-sight.ts test/fixtures/unseen [GROUP…]` prints what differs, and the count.
 */

import { resolve } from 'node:path';
import { CHECKS } from '../src/analysis/checks/index.ts';
import {
  type Difference,
  differencesOf,
  loadMail,
  mailNames,
  mistakesIn,
} from '../test/helpers/mail-corpus.ts';

const [folder = 'test/fixtures/unseen', ...groups] = process.argv.slice(2);
const root = resolve(folder);
const ids = new Set(CHECKS.map(({ id }) => id));
const mails = mailNames('json', root)
  .map((name) => loadMail(name, root))
  .filter(({ group }) => groups.length === 0 || groups.includes(group));

const short = (value: unknown): string => {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > 600 ? `${text.slice(0, 600)}…` : text;
};

async function judge(mail: (typeof mails)[number]): Promise<Difference[]> {
  try {
    return await differencesOf(mail);
  } catch (error) {
    return [{ key: 'analysis', expected: 'a result', found: (error as Error).message }];
  }
}

const right = new Map<string, number>();
const all = new Map<string, number>();
const count = (map: Map<string, number>, group: string) =>
  map.set(group, (map.get(group) ?? 0) + 1);

for (const mail of mails) {
  const mistakes = mistakesIn(mail, ids);
  if (mistakes.length > 0) throw new Error(`${mail.name}: unknown ${mistakes.join(', ')}`);
  const differences = await judge(mail);
  count(all, mail.group);
  if (differences.length === 0) count(right, mail.group);
  console.log(`${differences.length === 0 ? 'right' : 'WRONG'} ${mail.name}`);
  for (const { key, expected, found } of differences)
    console.log(`      ${key}: expected ${short(expected)}\n        found ${short(found)}`);
}

for (const [group, total] of all) console.log(`${group}: ${right.get(group) ?? 0} of ${total}`);
const sum = [...right.values()].reduce((one, other) => one + other, 0);
console.log(`${sum} of ${mails.length} right (${((100 * sum) / mails.length).toFixed(1)} %)`);
