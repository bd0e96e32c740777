/** Services of which one line says all that is known. */

import {
  AUTOMATIC,
  BY_RETURN_PATH,
  cnames,
  DKIM_IN_CONSOLE,
  type DkimSetup,
  guide,
  include,
  type SendingService,
  SPF_IN_CONSOLE,
  type SpfSetup,
  txt,
} from './service.ts';

/**
 * The services of a table with a line for each. Its columns, of which the last ones can be missing:
 *
 * 1. the name
 * 2. the address of the instructions, without `https://`
 * 3. the names of its servers; `!` marks those of customers, and `mx:` those that receive their mail
 * 4. its own domains, with which it signs and sends; `=` if they are those of its servers
 * 5. the names to include in SPF, or `own` if its return path passes; empty if the account shows them
 * 6. DKIM: pairs such as `selector=target`, `txt:selector`, or `auto`; empty if the account shows it. `try:` marks other
 *    selectors that its customers have
 * 7. what it calls a return path of the customer
 * 8. `replacesFrom`, without `https://`
 */
export const servicesOf = (rows: string[][]): SendingService[] => rows.map(serviceOf);

function serviceOf(row: string[]): SendingService {
  const [name = '', address = '', servers = '', own = '', spf = '', dkim = '', ...rest] = row;
  const [returnPath, replacesFrom] = rest;
  const names = words(servers);
  const hosts = names.filter((one) => !/[!:]/.test(one));
  const domains = own === '=' ? hosts : words(own);
  return {
    id: idOf(name),
    name,
    isShared: true,
    marks: {
      hosts,
      notHosts: marked(names, '!'),
      mx: marked(names, 'mx:'),
      signs: domains,
      mailFrom: domains,
    },
    spf: spfSetup(spf),
    dkim: dkimSetup(dkim.replace(/\btry:\S+\s*/g, '').trim()),
    selectors: marked(words(dkim), 'try:'),
    returnPath: returnPath || null,
    guides: guide(`https://${address}`),
    ...(replacesFrom && { replacesFrom: `https://${replacesFrom}` }),
  };
}

const idOf = (name: string): string =>
  name
    .toLowerCase()
    .match(/[a-z0-9]+/g)!
    .join('_');

const words = (cell: string): string[] => cell.match(/\S+/g) ?? [];

const marked = (names: string[], mark: string): string[] =>
  names.filter((name) => name.startsWith(mark)).map((name) => name.slice(mark.length));

function spfSetup(cell: string): SpfSetup {
  if (cell === '') return SPF_IN_CONSOLE;
  return cell === 'own' ? BY_RETURN_PATH : include(...words(cell));
}

function dkimSetup(cell: string): DkimSetup {
  if (cell === '') return DKIM_IN_CONSOLE;
  if (cell === 'auto') return AUTOMATIC;
  if (cell.startsWith('txt:')) return txt(cell.slice('txt:'.length));
  return cnames(...words(cell).map((pair) => pair.split('=') as [string, string]));
}
