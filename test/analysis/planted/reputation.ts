/** Listings: one each. */

import { listIn } from '../../helpers/blocklists.ts';
import type { Defect } from './defect.ts';
import { CLIENT } from './world.ts';

const reversed = CLIENT.split('.').reverse().join('.');

export const REPUTATION: Defect[] = [
  {
    check: 'ip_blocklists',
    name: 'the client on Spamhaus SBL',
    plant({ zone }) {
      Object.assign(zone, listIn('zen.spamhaus.org', reversed, '127.0.0.2'));
    },
  },
  {
    check: 'domain_blocklists',
    name: 'the From domain on Spamhaus DBL',
    plant(world) {
      // The links lead elsewhere: what they lead to has a check of its own.
      world.html = world.html.replaceAll('https://example.com', 'https://www.shop.example');
      world.text = world.text.replaceAll('https://example.com', 'https://www.shop.example');
      Object.assign(world.zone, listIn('dbl.spamhaus.org', 'example.com', '127.0.1.2'));
    },
  },
  {
    check: 'link_blocklists',
    name: 'a link to a domain on SURBL',
    status: 'warn',
    plant(world) {
      world.html = world.html.replace(
        'href="https://example.com/bread"',
        'href="https://listed.example/bread"',
      );
      Object.assign(world.zone, listIn('multi.surbl.org', 'listed.example', '127.0.0.64'));
    },
  },
];
