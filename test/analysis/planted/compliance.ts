/** Defects of the header and of the rules for marketing mail: one each. */

import type { Defect } from './defect.ts';

export const COMPLIANCE: Defect[] = [
  {
    check: 'from',
    name: "somebody else's address in the display name",
    plant({ fields }) {
      fields.From = '"service@bank.example" <news@example.com>';
    },
  },
  {
    check: 'date',
    name: 'a Date of last week',
    plant({ fields }) {
      fields.Date = 'Sat, 14 Nov 2026 09:59:58 +0000';
    },
  },
  {
    check: 'message_id',
    name: 'no Message-ID',
    plant({ fields }) {
      fields['Message-ID'] = null;
    },
  },
  {
    check: 'recipients',
    name: 'neither To nor Cc',
    status: 'warn',
    plant({ fields }) {
      fields.To = null;
    },
  },
  {
    check: 'subject',
    name: 'no Subject',
    plant({ fields }) {
      fields.Subject = null;
    },
  },
  {
    check: 'header_duplicates',
    name: 'two Subject fields',
    plant({ fields }) {
      fields.Subject = ['Three ways to keep your bread fresh', 'Bread'];
    },
  },
  {
    check: 'line_length',
    name: 'a line of 1,200 octets',
    plant(world) {
      world.html = world.html.replace('</body>', `<!-- ${'x'.repeat(1200)} -->\n</body>`);
    },
  },
  {
    check: 'encoding',
    name: '8-bit text that is declared as 7bit',
    plant(world) {
      world.edit = (message) =>
        message
          .replace('--a\n', '--a\nContent-Transfer-Encoding: 7bit\n')
          .replace('linen bag', 'linen bag – of cotton –');
    },
  },
  {
    check: 'reply_to',
    name: 'answers that go to another organisation',
    status: 'warn',
    plant({ fields }) {
      fields['Reply-To'] = 'answers@helpdesk.example';
    },
  },
  {
    check: 'list_unsubscribe',
    name: 'no List-Unsubscribe',
    plant({ fields }) {
      fields['List-Unsubscribe'] = null;
      // What is left says that it is marketing.
      fields['List-Id'] = '<letter.example.com>';
    },
  },
  {
    check: 'list_unsubscribe',
    name: 'an unencrypted address alone',
    plant({ fields }) {
      fields['List-Unsubscribe'] = '<http://example.com/u/4711>';
    },
  },
  {
    check: 'one_click',
    name: 'no List-Unsubscribe-Post',
    plant({ fields }) {
      fields['List-Unsubscribe-Post'] = null;
    },
  },
  {
    check: 'one_click_signed',
    name: 'List-Unsubscribe outside of the signature',
    plant(world) {
      world.sign.headerList = ['From', 'To', 'Subject', 'Date', 'Message-ID', 'MIME-Version'];
    },
  },
  {
    check: 'unsubscribe_link',
    name: 'nothing in the body to unsubscribe by',
    plant(world) {
      world.html = world.html.replace(/ <a href="[^"]*">Unsubscribe<\/a>/, '');
      world.text = world.text.replace(/ Unsubscribe: .*/, '');
    },
  },
];
