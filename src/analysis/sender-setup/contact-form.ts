/** Contact forms that put the address of the visitor into From, although the server of the website sends the message. */

import { addressDomain, ownedDomain } from '../../lib/domain-names.ts';
import { table } from '../../lib/table.ts';
import type { Context } from '../check.ts';
import { fromDomain, mailFromDomain } from '../dns/names.ts';
import { forwarding, isSameOrganization, recipientDomains } from '../forwarding/forwarding.ts';
import { htmlFacts } from '../html/facts.ts';
import { messageLinks } from '../links/links.ts';
import { fieldValue } from '../mime/message.ts';
import { freemailProvider } from '../sending-services/freemail.ts';
import { foreignOwner } from '../sending-services/ownership.ts';
import { collapseSpace } from '../text.ts';

/** Columns: the program; words in its fields or text; where it sets From and Reply-To. The first match counts. */
const PROGRAMS = table`
Contact Form 7 | x-wpcf7, sent from a contact form on, von einem kontaktformular von, via le formulaire de contact de, desde un formulario de contacto en, verzonden via een contactformulier op, da un modulo di contatto su | open the form’s Mail tab. Under From, enter the address. Under Additional headers, enter “Reply-To: [your-email]”
WPForms | wpforms | under Settings, Notifications, set “From Email” to the address, and “Reply-To” to the email field
Gravity Forms | gravity forms, gravityforms, gform | under Settings, Notifications, set “From Email” to the address, and “Reply To” to the email field
Ninja Forms | ninja forms, ninja-forms | under Emails & Actions, set “From Address” to the address, and “Reply To” to the email field
Elementor | elementor | under Actions After Submit, Email, set “From Email” to the address, and “Reply-To” to the email field
Fluent Forms | fluent forms, fluentform | under Settings & Integrations, Email Notifications, set “From Email” to the address, and “Reply To” to the email field
Formidable Forms | formidable | under Actions & Notifications, Send Email, set “From” to the address, and “Reply to” to the email field
Forminator | forminator | under Email Notifications, set “From Address” to the address, and “Reply To” to the email field
Drupal Webform | x-drupal, webform, drupal | in the form’s email handler, set “From email” to the address, and “Reply-to email” to the email element
Joomla | joomla, enquiry email via http | under Global Configuration, Server, set “From Email” to the address. In the form’s mail settings, set Reply-To to the visitor
TYPO3 | typo3, tx_form, powermail | in the form’s email finisher, set “Sender address” to the address, and “Reply-To” to the visitor
Formspree | formspree | leave From to Formspree, and name the visitor’s field “email”, which becomes Reply-To
Netlify | netlify | leave From to Netlify, and name the visitor’s field “email”, which becomes Reply-To
Shopify | shopify | under Settings, Notifications, set the sender email to the address
Squarespace | squarespace | leave From to Squarespace, whose form sets the visitor as Reply-To
PHPMailer | phpmailer | in the script, pass the address to setFrom(), and the visitor to addReplyTo()
PHP | x-php-, x-source-args | in the script, pass the address as From to mail(), and the visitor as Reply-To
`.map(([name = '', words = '', setting = '']) => ({ name, words: words.split(', '), setting }));

/** Words of such messages, in the languages of Europe. */
const FORM_WORDS =
  /contact[ -]?form|kontakt-?formular|anfrageformular|formulaire de contact|formulaire du site|formulario de (?:contacto|contato)|formul[aá]rio de contat[oc]|contactformulier|modulo (?:di )?contatt[io]|formularz kontaktow|kontaktn[ií] formul[aá][rř]|kapcsolatfelv|formular de contact|yhteydenottolomake|kontaktskjema|kontaktskema|форм[аы] обратной связи|φόρμα επικοινωνίας|iletişim formu|お問い合わせ|web ?form|website (?:enquiry|inquiry|form|feedback)|new (?:form )?(?:submission|enquiry|inquiry)|(?:enquiry|inquiry|message) (?:from|via) (?:your|the) (?:web ?site|homepage)|form submission|nachricht (?:von|über) (?:ihrer|der|deiner) (?:web ?seite|homepage)|message body:|nachrichtentext:|corps du message|cuerpo del mensaje|berichttekst|bericht via de website|message envoyé depuis (?:le|votre) site/i;

/** Envelope senders of programs on web servers. */
const SCRIPT_SENDER =
  /^<?(?:www-data|apache|wordpress|httpd|nobody|wwwrun|nginx|www|web\d*|php|noreply|no-reply)[@+]/i;

const MAX_TEXT = 20_000;

export interface ContactForm {
  /** The address in From. */
  visitor: string;
  /** The domain of the website; null if it is unknown. */
  site: string | null;
  program: string | null;
  setting: string;
}

/** What in a message shows that it has the entries of a form. `isNamed`: the address is one of them. */
function formSigns(context: Context, address: string) {
  const { message } = context;
  const text = collapseSpace(
    `${message.subject ?? ''} ${message.text ?? context.fact(htmlFacts)?.text ?? ''}`.slice(
      0,
      MAX_TEXT,
    ),
  );
  const names = message.headers
    .filter(({ key }) => key.startsWith('x-') || key === 'user-agent')
    .map(({ key, value }) => `${key} ${value.slice(0, 200)}`);
  const marks = `${names.join(' ')} ${text.slice(-1000)}`.toLowerCase();
  const program = PROGRAMS.find(({ words }) => words.some((word) => marks.includes(word)));
  const hasWords = FORM_WORDS.test(text);
  const isNamed = isEntered(text.toLowerCase(), address.toLowerCase());
  return {
    program,
    hasWords,
    isNamed,
    isRepeated: text.toLowerCase().includes(address.toLowerCase()),
  };
}

/** Whether the visitor of a form entered the address, as in Reply-To of a form that is set up well. */
export function isOfVisitor(context: Context, address: string): boolean {
  const { program, hasWords, isNamed, isRepeated } = formSigns(context, address);
  const from = fromDomain(context);
  const isInternal = recipientDomains(context.message).every((to) => isSameOrganization(to, from));
  return isRepeated && (hasWords || (isInternal && (isNamed || program !== undefined)));
}

/** A fact: the form that sent the message; null for any other message. It does not look at authentication. */
export function contactForm(context: Context): ContactForm | null {
  const visitor = context.message.from[0]?.address ?? '';
  const from = fromDomain(context);
  if (from === null || context.fact(forwarding).kind !== 'direct') return null;
  const { program, hasWords, isNamed } = formSigns(context, visitor);
  const isScript = program !== undefined || SCRIPT_SENDER.test(context.envelope.mail_from ?? '');
  // Other mail with a private address in From, such as that of a shop, has neither words nor entries of a form.
  const isForm = hasWords
    ? isScript || isNamed || freemailProvider(from) !== null
    : isScript && isNamed;
  if (!isForm) return null;
  const site = siteOf(context, from);
  const sender = mailFromDomain(context);
  const isSentByOther = sender === null || !isSameOrganization(sender, from);
  // With the visitor as envelope sender too, something else must name the website.
  if (!isSentByOther && site === null) return null;
  return {
    visitor,
    site,
    program: program?.name ?? null,
    setting:
      program?.setting ??
      'in the form’s mail settings, set From to the address, and Reply-To to the visitor',
  };
}

const ENTRY =
  /(?:e-?mail|mail|from|von|absender|de|expéditeur|remitente|van|da|od|fra|från)[^:\n]{0,20}[:：]/g;
const MAX_ENTRY = 80;

/** Whether the text repeats the address as an entry of a form: "Email: ann@example.com". */
function isEntered(text: string, address: string): boolean {
  const at = text.indexOf(address);
  return at >= 0 && (text.slice(Math.max(0, at - MAX_ENTRY), at).match(ENTRY) ?? []).length > 0;
}

/** The organization of the website: of the envelope sender, Sender, Message-ID, a link or the recipient. */
function siteOf(context: Context, from: string): string | null {
  const { message } = context;
  const domainOf = (name: string): string | null =>
    addressDomain((fieldValue(message, name) ?? '').slice(0, 500).replace(/>\s*$/, ''));
  // The note of the form is at the end of the text.
  const link = context.fact(messageLinks).at(-1)?.host ?? null;
  const candidates = [mailFromDomain(context), domainOf('sender'), domainOf('message-id'), link];
  const isScript = SCRIPT_SENDER.test(context.envelope.mail_from ?? '');
  for (const name of candidates) {
    const domain = name === null ? null : ownedDomain(name);
    if (domain === null || isSameOrganization(domain, from)) continue;
    // The server of a web host is not the website.
    const isHost = isScript && name === mailFromDomain(context) && name !== domain;
    if (!isHost && foreignOwner(domain) === null) return domain;
  }
  return null;
}
