/** Contact forms that put the address of the visitor into From, although the server of the website sends the message. */

import { addressDomain, ownedDomain } from '../../lib/domain-names.ts';
import type { Context } from '../check.ts';
import { fromDomain, mailFromDomain } from '../dns/names.ts';
import { forwarding, isSameOrganization, recipientDomains } from '../forwarding/forwarding.ts';
import { htmlFacts } from '../html/facts.ts';
import { messageLinks } from '../links/links.ts';
import { fieldValue } from '../mime/message.ts';
import { freemailProvider } from '../sending-services/freemail.ts';
import { foreignOwner } from '../sending-services/ownership.ts';
import { collapseSpace } from '../text.ts';
import programs from './form-programs.json' with { type: 'json' };

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
  // Its words occur in its fields or text; the first match counts. `setting` says where it sets From and Reply-To.
  const program = programs.find(({ words }) => words.some((word) => marks.includes(word)));
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
