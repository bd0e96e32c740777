/** Replies and forwarded messages as email clients write them: what the sender wrote, around a quoted newsletter. */

/** The newsletter that everybody quotes, as text and as HTML. */
export const NEWSLETTER_TEXT = [
  'SUMMER SALE: 40% off everything until Sunday, {{first_name}}',
  'Shop now: https://click.shop.example/sale?utm_campaign=summer',
  'Use code SUMMER40 at checkout. Unsubscribe: https://shop.example/unsubscribe',
].join('\n');
export const NEWSLETTER_HTML =
  '<table><tr><td><h1>SUMMER SALE</h1><p>40% off everything until Sunday, {{first_name}}</p><a href="https://click.shop.example/sale?utm_campaign=summer">Shop now</a><p>Use code SUMMER40 at checkout.</p><a href="https://shop.example/unsubscribe">Unsubscribe</a></td></tr></table>';

const cited = (text: string) => text.replace(/^/gm, '> ');

export interface QuotedMail {
  name: string;
  subject: string;
  /** Without fields of a conversation, as many clients forward. */
  isForward?: boolean;
  text?: string;
  html?: string;
  /** Words of the sender, which must stay. */
  own: string[];
}

const T = NEWSLETTER_TEXT;
const H = NEWSLETTER_HTML;

export const QUOTED_MAILS: QuotedMail[] = [
  {
    name: 'Gmail, answer above',
    subject: 'Re: SUMMER SALE: 40% OFF',
    text: `Shall we buy the boots?\n\nOn Tue, Nov 3, 2026 at 10:00 AM Shop <news@shop.example>\nwrote:\n\n${cited(T)}\n`,
    html: `<div dir="ltr">Shall we buy the boots?</div><br><div class="gmail_quote gmail_quote_container"><div dir="ltr" class="gmail_attr">On Tue, Nov 3, 2026 at 10:00 AM Shop &lt;<a href="mailto:news@shop.example">news@shop.example</a>&gt; wrote:<br></div><blockquote class="gmail_quote" style="margin:0">${H}</blockquote></div>`,
    own: ['Shall we buy the boots?'],
  },
  {
    name: 'Gmail, answers between quotes and a signature below',
    subject: 'Aw: Sommerschlussverkauf',
    text: `Am Di., 3. Nov. 2026 um 10:00 Uhr schrieb Shop <news@shop.example>:\n\n${cited(T)}\nDas Angebot ist mir zu teuer.\n${cited('Nur heute: 50 % Rabatt')}\nAuch nicht.\n\n-- \nMarta`,
    html: `<div dir="ltr"><div class="gmail_quote"><div class="gmail_attr">Am Di., 3. Nov. 2026 um 10:00 Uhr schrieb Shop:</div><blockquote class="gmail_quote">${H}</blockquote><div>Das Angebot ist mir zu teuer.</div><blockquote class="gmail_quote">Nur heute: 50 % Rabatt</blockquote><div>Auch nicht.<br>-- <br>Marta</div></div></div>`,
    own: ['Das Angebot ist mir zu teuer.', 'Auch nicht.', 'Marta'],
  },
  {
    name: 'Gmail, forwarded',
    subject: 'Fwd: SUMMER SALE',
    isForward: true,
    text: `Schau mal.\n\n---------- Forwarded message ---------\nVon: Shop <news@shop.example>\nDate: Di., 3. Nov. 2026 um 10:00 Uhr\nSubject: SUMMER SALE\nTo: Marta <marta@home.example>\n\n\n${T}\n`,
    html: `<div dir="ltr">Schau mal.<br><br><div class="gmail_quote"><div dir="ltr" class="gmail_attr">---------- Forwarded message ---------<br>Von: <strong>Shop</strong> &lt;news@shop.example&gt;<br>Date: Di., 3. Nov.<br>Subject: SUMMER SALE<br>To: Marta<br></div><br><br>${H}</div></div>`,
    own: ['Schau mal.'],
  },
  {
    name: 'Outlook for Windows, German',
    subject: 'AW: Sommerschlussverkauf',
    text: `Nein, danke.\n\nViele Grüße\nJan\n\nVon: Shop <news@shop.example>\nGesendet: Dienstag, 3. November 2026 10:00\nAn: Jan <jan@firma.example>\nBetreff: Sommerschlussverkauf\n\n${T}\n`,
    html: `<div class="WordSection1"><p class="MsoNormal">Nein, danke.</p><p class="MsoNormal">Viele Grüße<br>Jan</p><div style="border:none;border-top:solid #E1E1E1 1.0pt;padding:3.0pt 0cm 0cm 0cm"><p class="MsoNormal"><b>Von:</b> Shop &lt;news@shop.example&gt;<br><b>Gesendet:</b> Dienstag, 3. November 2026 10:00<br><b>An:</b> Jan<br><b>Betreff:</b> Sommerschlussverkauf</p></div>${H}</div>`,
    own: ['Nein, danke.', 'Jan'],
  },
  {
    name: 'Outlook on the web, French',
    subject: 'RE: Soldes',
    text: `Trop cher.\n________________________________\nDe : Boutique <news@shop.example>\nEnvoyé : mardi 3 novembre 2026 10:00\nÀ : Luc\nObjet : Soldes\n\n${T}`,
    html: `<div>Trop cher.</div><div id="appendonsend"></div><hr style="width:98%"><div id="divRplyFwdMsg" dir="ltr"><font><b>De&nbsp;:</b> Boutique<br><b>Envoyé&nbsp;:</b> mardi 3 novembre 2026 10:00<br><b>À&nbsp;:</b> Luc<br><b>Objet&nbsp;:</b> Soldes</font></div><div>${H}</div>`,
    own: ['Trop cher.'],
  },
  {
    name: 'Outlook 2003, Spanish, text only',
    subject: 'RV: Rebajas',
    isForward: true,
    text: `Para tu información.\n\n-----Mensaje original-----\nDe: Tienda [mailto:news@shop.example]\nEnviado el: martes, 3 de noviembre de 2026 10:00\nPara: Luis\nAsunto: Rebajas\n\n${T}`,
    own: ['Para tu información.'],
  },
  {
    name: 'Apple Mail',
    subject: 'Re: Saldi',
    text: `Ne parliamo domani.\n\n> Il giorno 3 nov 2026, alle ore 10:00, Negozio <news@shop.example> ha scritto:\n> \n${cited(T)}\n`,
    html: `<html><body>Ne parliamo domani.<br><div><br><blockquote type="cite"><div>Il giorno 3 nov 2026, alle ore 10:00, Negozio &lt;news@shop.example&gt; ha scritto:</div><br class="Apple-interchange-newline"><div>${H}</div></blockquote></div><br></body></html>`,
    own: ['Ne parliamo domani.'],
  },
  {
    name: 'Apple Mail, forwarded without a word',
    subject: 'Fwd: SUMMER SALE',
    isForward: true,
    text: `\n\n> Begin forwarded message:\n> \n> From: Shop <news@shop.example>\n> Subject: SUMMER SALE\n> Date: 3 November 2026 at 10:00:00 CET\n> To: ana@home.example\n> \n${cited(T)}`,
    html: `<html><body><br><div><blockquote type="cite"><div>Begin forwarded message:</div><br><div><b>From: </b>Shop<br></div><div><b>Subject: </b>SUMMER SALE<br></div><div><b>Date: </b>3 November<br></div><div><b>To: </b>ana<br></div><br>${H}</blockquote></div></body></html>`,
    own: [],
  },
  {
    name: 'Thunderbird, answer below',
    subject: 'Re: Uitverkoop',
    text: `Op 3-11-2026 om 10:00 schreef Winkel:\n${cited(T)}\n\nLaat maar, ik heb er al een.\n`,
    html: `<div class="moz-cite-prefix">Op 3-11-2026 om 10:00 schreef Winkel:<br></div><blockquote type="cite" cite="mid:1@shop.example">${H}</blockquote><p>Laat maar, ik heb er al een.</p>`,
    own: ['Laat maar, ik heb er al een.'],
  },
  {
    name: 'Thunderbird, forwarded, Polish',
    subject: 'Fwd: Wyprzedaż',
    isForward: true,
    text: `Zobacz.\n\n-------- Wiadomość przekazana --------\nTemat: Wyprzedaż\nData: Tue, 3 Nov 2026 10:00:00 +0100\nNadawca: Sklep\nOd: Sklep <news@shop.example>\nDo: ola@dom.example\n\n${T}`,
    html: `<p>Zobacz.</p><div class="moz-forward-container"><br>-------- Wiadomość przekazana --------<table class="moz-email-headers-table"><tr><th>Temat:</th><td>Wyprzedaż</td></tr><tr><th>Od:</th><td>Sklep</td></tr></table>${H}</div>`,
    own: ['Zobacz.'],
  },
  {
    name: 'Yahoo',
    subject: 'Re: Promoção',
    text: `Amanhã falamos.\n\n    Em terça-feira, 3 de novembro de 2026 10:00:00 BRT, Loja <news@shop.example> escreveu:  \n \n ${T.replaceAll('\n', '\n ')}`,
    html: `<div class="ydp1">Amanhã falamos.</div><div id="yahoo_quoted_42" class="yahoo_quoted"><div>Em terça-feira, 3 de novembro de 2026 10:00:00 BRT, Loja &lt;news@shop.example&gt; escreveu:</div>${H}</div>`,
    own: ['Amanhã falamos.'],
  },
  {
    name: 'Proton',
    subject: 'Re: Rea',
    html: `<div>Jag tar två.</div><div class="protonmail_quote">På tisdag, 3 november 2026, Butik &lt;news@shop.example&gt; skrev:<blockquote class="protonmail_quote" type="cite">${H}</blockquote></div>`,
    own: ['Jag tar två.'],
  },
  {
    name: 'GMX',
    subject: 'Aw: Angebote der Woche',
    html: `<div>Kannst du mir das bestellen?</div><div name="quote" style="margin:10px 5px 5px 10px"><div><b>Gesendet:</b> Dienstag, 3. November<br><b>Von:</b> Shop<br><b>An:</b> ich<br><b>Betreff:</b> Angebote</div>${H}</div>`,
    own: ['Kannst du mir das bestellen?'],
  },
  {
    name: 'Zoho',
    subject: 'Re: Deal of the day',
    html: `<div>Not this time.</div><div class="zmail_extra"><div id="Zm-_Id">---- On Tue, 03 Nov 2026 10:00:00 +0530 Shop &lt;news@shop.example&gt; wrote ----</div><blockquote id="blockquote_zmail">${H}</blockquote></div>`,
    own: ['Not this time.'],
  },
  {
    name: 'a web mailer with an ordinary blockquote, Russian',
    subject: 'Re: Распродажа',
    html: `<div>Давай завтра.</div><div>03.11.2026, 10:00, "Магазин" &lt;news@shop.example&gt;:</div><blockquote>${H}</blockquote><div>--<br>Иван</div>`,
    own: ['Давай завтра.', 'Иван'],
  },
  {
    name: 'a long chain in Outlook, Danish',
    subject: 'SV: Udsalg',
    text: `Det er fint.\n\nFra: Mads <mads@firma.example>\nSendt: 3. november 2026 12:00\nTil: Ida\nEmne: SV: Udsalg\n\nSkal vi købe den?\n\nFra: Butik\nSendt: 3. november 2026 10:00\nTil: Mads\nEmne: Udsalg\n\n${T}`,
    own: ['Det er fint.'],
  },
  {
    name: 'Outlook, forwarded without a prefix',
    subject: 'from the shop',
    isForward: true,
    text: `Look.\n\nFrom: Shop <news@shop.example>\nSent: Tuesday, 3 November 2026 10:00\nTo: Ann\nSubject: Sale\n\n${T}`,
    html: `<p class="MsoNormal">Look.</p><div style="border:none;border-top:solid #E1E1E1 1.0pt"><p class="MsoNormal"><b>From:</b> Shop<br><b>Sent:</b> Tuesday<br><b>To:</b> Ann<br><b>Subject:</b> Sale</p></div>${H}`,
    own: ['Look.'],
  },
  {
    name: 'a quote in the HTML only',
    subject: 'Re: SUMMER SALE',
    text: 'Thanks, I have asked them to stop sending these.\n',
    html: `<p>Thanks, I have asked them to stop sending these.</p><p>On 2026-11-03 10:00, Shop wrote:</p><blockquote type="cite">${H}</blockquote>`,
    own: ['Thanks, I have asked them to stop sending these.'],
  },
  {
    name: 'Japanese Gmail',
    subject: 'Re: セールのお知らせ',
    text: `明日お話しします。\n\n2026年11月3日(火) 10:00 Shop <news@shop.example>:\n\n${cited(T)}`,
    html: `<div>明日お話しします。</div><div class="gmail_quote"><div class="gmail_attr">2026年11月3日(火) 10:00 Shop &lt;news@shop.example&gt;:</div><blockquote class="gmail_quote">${H}</blockquote></div>`,
    own: ['明日お話しします。'],
  },
];
