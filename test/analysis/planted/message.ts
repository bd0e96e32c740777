/** Defects in content and headers. */

import type { Defect, World } from './world.ts';

const inHtml = (world: World, from: string, to: string) => {
  if (!world.html.includes(from)) throw new Error(`the page has no ${from}`);
  world.html = world.html.replace(from, to);
};
const afterHeading = (world: World, added: string) => inHtml(world, '</h1>', `</h1>\n${added}`);
/** An additional link, which the text part does not need. */
const link = (href: string, text = 'More') => `<p><a href="${href}">${text}</a></p>`;

export const CONTENT: Defect[] = [
  {
    check: 'text_part',
    name: 'an empty text part',
    plant(world) {
      world.text = '\n';
    },
  },
  {
    check: 'text_matches_html',
    name: 'a text part that differs from the HTML',
    status: 'warn',
    plant(world) {
      world.text =
        'Please use a program that shows pages to read this. Unsubscribe: https://example.com/u/4711\n';
    },
  },
  {
    check: 'html_structure',
    name: 'an unclosed link element',
    status: 'warn',
    plant(world) {
      inHtml(world, 'Read on</a>', 'Read on');
    },
  },
  {
    check: 'html_size',
    name: '110 kB of HTML',
    plant(world) {
      afterHeading(world, `<!-- ${'space for rent\n'.repeat(7400)} -->`);
    },
  },
  {
    check: 'message_size',
    name: 'an attachment of 12 MB',
    plant(world) {
      const body = `${'QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZn\n'.repeat(270_000)}`;
      world.attachments.push(
        `Content-Type: image/png; name=plan.png\nContent-Disposition: attachment; filename=plan.png\nContent-Transfer-Encoding: base64\n\n${body}`,
      );
    },
  },
  {
    check: 'image_ratio',
    name: 'many images and little text',
    status: 'warn',
    plant(world) {
      const images = Array.from(
        { length: 8 },
        (_, i) =>
          `<img src="https://example.com/${i}.png" alt="Loaf ${i}" width="560" height="240">`,
      );
      afterHeading(world, images.join('\n'));
    },
  },
  {
    check: 'image_alt',
    name: 'an image without alt',
    status: 'warn',
    plant(world) {
      inHtml(world, ' alt="A loaf on a linen cloth"', '');
    },
  },
  {
    check: 'attachments',
    name: 'an attached program',
    plant(world) {
      world.attachments.push(
        `Content-Type: application/octet-stream; name=update.exe\nContent-Disposition: attachment; filename=update.exe\nContent-Transfer-Encoding: base64\n\n${Buffer.from('MZ\0\0').toString('base64')}`,
      );
    },
  },
  {
    check: 'active_content',
    name: 'a script element',
    plant(world) {
      afterHeading(world, '<script>window.status = 1</script>');
    },
  },
  {
    check: 'hidden_text',
    name: 'white text on white',
    plant(world) {
      const words = 'cheap watches and pills for everybody who reads this far today '.repeat(12);
      inHtml(world, '</body>', `<p style="color:#ffffff">${words}</p>\n</body>`);
    },
  },
  {
    check: 'link_text',
    name: 'link text showing another domain',
    plant(world) {
      afterHeading(world, link('https://other.example/login', 'https://bank.example/login'));
    },
  },
  {
    check: 'link_host',
    name: 'a link to an IP address',
    plant(world) {
      afterHeading(world, link('https://203.0.114.55/bread'));
    },
  },
  {
    check: 'link_scheme',
    name: 'a link to a file URL',
    plant(world) {
      afterHeading(world, link('file:///C:/bread.html'));
    },
  },
  {
    check: 'link_scheme',
    name: 'a javascript link',
    plant(world) {
      afterHeading(world, link('javascript:open()'));
    },
  },
  {
    check: 'link_shorteners',
    name: 'a shortened link',
    plant(world) {
      afterHeading(world, link('https://bit.ly/3bread'));
    },
  },
  {
    check: 'link_status',
    name: 'a link to a missing page',
    plant(world) {
      world.web = (url) => (url.endsWith('/bread') ? 404 : 200);
    },
  },
  {
    check: 'merge_tags',
    name: 'an unfilled merge tag',
    plant(world) {
      world.text = `Dear {{first_name}},\n\n${world.text}`;
      afterHeading(world, '<p>Dear {{first_name}},</p>');
    },
  },
  {
    check: 'subject_style',
    name: 'a Subject in capitals',
    status: 'warn',
    plant({ fields }) {
      fields.Subject = 'THREE WAYS TO KEEP YOUR BREAD FRESH';
    },
  },
];

// Defects in the header and in the rules for marketing mail.

export const COMPLIANCE: Defect[] = [
  {
    check: 'from',
    name: 'another address in the display name',
    plant({ fields }) {
      fields.From = '"service@bank.example" <news@example.com>';
    },
  },
  {
    check: 'date',
    name: 'a Date one week old',
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
    name: '8-bit text declared as 7bit',
    plant(world) {
      world.edit = (message) =>
        message
          .replace('--a\n', '--a\nContent-Transfer-Encoding: 7bit\n')
          .replace('linen bag', 'linen bag – of cotton –');
    },
  },
  {
    check: 'reply_to',
    name: 'replies directed to another organization',
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
      // Still marks the message as marketing mail.
      fields['List-Id'] = '<letter.example.com>';
    },
  },
  {
    check: 'list_unsubscribe',
    name: 'only an http URL',
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
    name: 'List-Unsubscribe not covered by the signature',
    plant(world) {
      world.sign.headerList = ['From', 'To', 'Subject', 'Date', 'Message-ID', 'MIME-Version'];
    },
  },
  {
    check: 'unsubscribe_link',
    name: 'no unsubscribe link in the body',
    plant(world) {
      world.html = world.html.replace(/ <a href="[^"]*">Unsubscribe<\/a>/, '');
      world.text = world.text.replace(/ Unsubscribe: .*/, '');
    },
  },
];
