/**
 * The phrases by which a text shows its kind, by language. Compared without case and accents. Symbols
 * count as spaces, a final `*` matches any word ending, and `…` stands for up to a few words.
 */

import { plainWords } from '../text.ts';

/** Longer phrases are cut. */
const MAX_PHRASE = 100;
/** Scripts without spaces between words. */
const SPACELESS = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]/u;

interface Phrase {
  /** As a reason quotes it. */
  text: string;
  /** As it occurs in the result of `plainWords`: the part before the gap, and the part after it. */
  words: string;
  after: string | null;
  /** Texts without this word cannot contain the phrase; null if the phrase has no complete word. */
  firstWord: string | null;
  /** Whether it is in a script without spaces between words. */
  isSpaceless: boolean;
}

const wordsOf = (phrase: string): string => {
  const words = plainWords(phrase, MAX_PHRASE);
  if (SPACELESS.test(phrase)) return words.trim();
  return phrase.endsWith('*') ? words.trimEnd() : words;
};

const parsePhrase = (phrase: string): Phrase => {
  const [before = '', after] = phrase.split(' … ');
  const words = wordsOf(before);
  return {
    text: phrase.replace('*', '…'),
    words,
    after: after === undefined ? null : wordsOf(after),
    firstWord: SPACELESS.test(phrase) ? null : (/^ (\S+) /.exec(words)?.[1] ?? null),
    isSpaceless: SPACELESS.test(phrase),
  };
};

/** A list of phrases, prepared for the search. */
export type PhraseList = Phrase[];

/** Each line has phrases of one language, separated by commas. */
const listOf = (...lines: string[]): PhraseList =>
  lines.flatMap((line) => line.split(',').map((phrase) => parsePhrase(phrase.trim())));

/** More occurrences of one phrase are not searched. */
const MAX_OCCURRENCES = 20;
/** The longest gap within a phrase, in characters. */
const MAX_GAP = 24;

/** The phrases that a text contains, at most `max`. `text` is a result of `plainWords`. */
export function findPhrases(list: PhraseList, text: string, max: number): string[] {
  const found: string[] = [];
  const index = indexOf(text);
  for (const phrase of list) {
    if (found.length >= max) break;
    if (!canContain(index, phrase)) continue;
    if (contains(text, phrase)) found.push(phrase.text);
  }
  return found;
}

/** One message has a few texts, each of which is searched for many lists. */
const MAX_REMEMBERED_TEXTS = 4;
const remembered = new Map<string, TextIndex>();

interface TextIndex {
  words: Set<string>;
  /** Whether any part is in a script without spaces between words. */
  isSpaceless: boolean;
}

/** Searching a long text for each of a thousand phrases would take longer than all other checks together. */
function indexOf(text: string): TextIndex {
  let index = remembered.get(text);
  if (index) return index;
  index = { words: new Set(text.split(' ')), isSpaceless: SPACELESS.test(text) };
  if (remembered.size >= MAX_REMEMBERED_TEXTS) remembered.delete(remembered.keys().next().value!);
  remembered.set(text, index);
  return index;
}

function canContain(index: TextIndex, { firstWord, isSpaceless }: Phrase): boolean {
  if (isSpaceless) return index.isSpaceless;
  return firstWord === null || index.words.has(firstWord);
}

function contains(text: string, { words, after }: Phrase): boolean {
  if (after === null) return text.includes(words);
  return followedBy(text, words, (rest) => rest.includes(after), MAX_GAP + after.length);
}

/** Whether an occurrence of the words is followed by what `matches` wants, within `distance` characters. */
function followedBy(
  text: string,
  words: string,
  matches: (rest: string) => boolean,
  distance: number,
): boolean {
  let at = text.indexOf(words);
  for (let count = 0; at >= 0 && count < MAX_OCCURRENCES; count += 1) {
    const end = at + words.length;
    // The space at the end of the words also begins what follows.
    if (matches(text.slice(end - 1, end + distance))) return true;
    at = text.indexOf(words, end);
  }
  return false;
}

/** How far after a phrase a number is looked for. */
const NUMBER_DISTANCE = 24;
const NUMBER = /\d{3}|\d[\p{L}\d]{3}|\d\d \d\d/u;

/** The first phrase that is followed by a number of at least three digits; null if there is none. */
export function findNumbered(list: PhraseList, text: string): string | null {
  const index = indexOf(text);
  const isNumbered = ({ words }: Phrase) =>
    followedBy(text, words, (rest) => NUMBER.test(rest), NUMBER_DISTANCE);
  return list.find((phrase) => canContain(index, phrase) && isNumbered(phrase))?.text ?? null;
}

// Signs of marketing.

export const OFFERS = listOf(
  'black friday, cyber monday, singles day, prime day, boxing day sale',
  'flash sale, summer sale, winter sale, spring sale, autumn sale, big sale, mega sale, final sale',
  'clearance, sale ends, sale starts, sale is on, sale now on, now on sale, sitewide, storewide',
  'half price, buy one get one, special offer*, exclusive offer*, limited time offer, limited offer',
  'best deals, top deals, deals of the, deal of the, offer ends, offer expires, off everything',
  'price drop, prices slashed, today only, hours only, weekend only, ends tonight, last chance to save',
  'last chance to get, while stocks last, while supplies last, free gift, new arrivals, new collection',
  'save up to, save big, discount on your next, off your next, off your first, off selected, off all',
  "don't miss out, early access, just dropped, free shipping on all",
  'rabattaktion, sonderangebot*, schnäppchen*, ausverkauf, schlussverkauf, sommerschlussverkauf',
  'winterschlussverkauf, nur heute, nur für kurze zeit, nur noch heute, solange der vorrat reicht',
  'solange vorrat reicht, jetzt sparen, sparen sie, spare bis zu, angebote der woche, rabatt auf',
  'angebot der woche, exklusives angebot, exklusive angebote, letzte chance, gratis versand',
  'neue kollektion, neuheiten, aktionspreis*, tiefpreis*, zum halben preis, gewinnspiel',
  'soldes, vente flash, ventes privées, vente privée, offre spéciale, offre exclusive, remise de',
  'offres exclusives, offre limitée, dernière chance, derniers jours, dernière démarque, bons plans',
  'promo*, prix cassés, livraison offerte, nouvelle collection, économisez, réduction de',
  "jusqu'à épuisement, aujourd'hui seulement, sur tout le site, prix réduits",
  'rebajas, oferta especial, oferta exclusiva, ofertas exclusivas, ofertas de la semana, solo hoy',
  'oferta limitada, última oportunidad, últimos días, solo por hoy, descuento en, de descuento',
  'descuentos de hasta, ahorra hasta, nueva colección, hasta agotar existencias, liquidación',
  'saldi, offerta speciale, offerta esclusiva, offerte esclusive, offerta limitata, ultima occasione',
  'offerte della settimana, ultimi giorni, solo oggi, solo per oggi, sconto del, sconti fino',
  'di sconto, risparmia, nuova collezione, approfitta, fino a esaurimento, svendita',
  'uitverkoop, aanbieding*, actie van de week, laatste kans, alleen vandaag, korting op, bespaar',
  'nu met korting, nieuwe collectie, zolang de voorraad strekt, op is op, dagdeal, weekenddeal',
  'promoção, promoções, liquidação, última chance, última oportunidade, últimos dias, só hoje',
  'apenas hoje, somente hoje, desconto em, de desconto, descontos de até, economize, poupe até',
  'nova coleção, aproveite, saldos, enquanto durarem os estoques',
  'promocja, promocje, wyprzedaż, okazja, okazje, oferta specjalna, specjalna oferta, ostatnia szansa',
  'ostatnie dni, tylko dziś, tylko dzisiaj, rabat na, rabatu na, zniżki do, obniżki, oszczędź',
  'nowa kolekcja, do wyczerpania zapasów, taniej',
  'セール, 割引, 半額, 送料無料, 期間限定, 特別価格, お買い得, ポイント還元',
  '优惠, 優惠, 促销, 促銷, 特价, 特價, 折扣, 限时, 限時, 抢购, 搶購, 满减, 立减, 秒杀, 双11, 双十一',
  'rea, slutrea, erbjudande, udsalg, tilbud, salg, erbjudanden, ale, alennus, výprodej, sleva na, akce',
  'indirim, kampanya, fırsat, распродажа, скидка, скидки, акция, تخفيضات, خصم, عرض خاص, 할인, 세일, 특가',
);

/** Words for a discount, next to a percentage. */
export const DISCOUNT_WORDS = listOf(
  'off, discount*, save, sale, rabatt*, nachlass, sparen, spare, günstiger, reduziert*, auf alles',
  'remise*, réduction*, soldes, promo*, économisez, descuento*, dto, ahorra*, rebaja*',
  'sconto, sconti, risparmi*, korting*, bespaar, desconto*, economize, rabat*, zniżk*, obniżk*',
  'taniej, promocj*, オフ, 割引, 引き, 优惠, 折, 降, rabat, rea, tilbud, sleva, slevu, indirim*',
  'скидк*, خصم, تخفيضات, 할인, 세일',
);

export const CALLS_TO_ACTION = listOf(
  'shop now, buy now, order now, shop the, shop all, shop sale, get the deal, grab the deal, redeem',
  'claim your, claim offer, get offer, start shopping, add to cart, add to bag, explore the collection',
  'discover the collection, upgrade now, book a demo, request a demo, register now, save your seat',
  'save my seat, reserve your spot, reserve my spot, try it free, start free trial, pre order',
  'see the offers, view offers, view deals, see deals, to the shop, visit the shop, visit our store',
  'return to cart, complete your purchase, finish your order, back to your cart',
  'jetzt kaufen, jetzt shoppen, jetzt bestellen, jetzt einkaufen, zum shop, zum angebot',
  'zu den angeboten, jetzt entdecken, angebot sichern, jetzt sichern, in den warenkorb, zum warenkorb',
  'jetzt stöbern, mehr entdecken, jetzt zugreifen, jetzt upgraden, platz sichern',
  "j'achète, acheter, j'en profite, profiter de l'offre, je profite, découvrir la collection",
  'commander maintenant, je commande, voir les offres, ajouter au panier, en profiter, je découvre',
  "réserver ma place, je m'inscris, voir mon panier, découvrir l'offre, je craque",
  'comprar ahora, compra ahora, comprar ya, ver ofertas, ver oferta, añadir al carrito',
  'descubre la colección, ver la colección, aprovechar, ir a la tienda, lo quiero, reserva tu plaza',
  'acquista ora, compra ora, acquista, scopri le offerte, scopri la collezione, vai allo shop',
  'aggiungi al carrello, vai al carrello, approfittane, ordina ora, iscriviti ora',
  'shop nu, koop nu, bestel nu, nu kopen, nu bestellen, naar de shop, naar de winkel',
  'bekijk de aanbieding*, bekijk aanbiedingen, in winkelwagen, profiteer nu, shop de sale',
  'compre agora, comprar agora, ver oferta, aproveitar, aproveite agora, adicionar ao carrinho',
  'ir para a loja, garanta o seu, eu quero',
  'kup teraz, kupuję, zamów teraz, zobacz ofertę, sprawdź ofertę, do sklepu, dodaj do koszyka',
  'odbierz rabat, skorzystaj',
  '今すぐ購入, 購入する, 今すぐチェック, お買い物, ショップへ, カートに入れる, セール会場',
  '立即购买, 立即購買, 马上抢购, 立即抢购, 去购物, 加入购物车, 查看优惠, 立即领取',
  'köp nu, handla nu, køb nu, kjøp nå, osta nyt, koupit, do obchodu, hemen al, купить, تسوق الآن, 구매하기',
);

export const APPEALS = listOf(
  'donate now, donate today, make a donation, your donation, jetzt spenden, ihre spende, faire un don',
  'je fais un don, votre don, haz una donación, dona ahora, tu donación, dona ora, la tua donazione',
  'doneer nu, jouw donatie, uw gift, doe agora, sua doação, wesprzyj, przekaż darowiznę, 寄付, 捐款',
);

export const PROMO_CODES = listOf(
  'promo code, discount code, coupon code, voucher code, use code save, gift code, coupon',
  'gutscheincode, rabattcode, aktionscode, gutschein, code promo, code de réduction, bon de réduction',
  'código promocional, código de descuento, cupón, codice sconto, codice promozionale, buono sconto',
  'kortingscode, actiecode, cupom, código de desconto, kod rabatowy, kod promocyjny',
  'クーポン, 优惠码, 優惠碼, 优惠券, 優惠券',
);

export const CARTS = listOf(
  'left in your cart, left something in your cart, left something behind, items in your cart',
  'forgot something, still in your basket, still in your cart, your cart is waiting, your basket is',
  'warenkorb wartet, noch im warenkorb, im warenkorb vergessen, etwas vergessen',
  'panier vous attend, dans votre panier, oublié quelque chose, carrito te espera, en tu carrito',
  'olvidado algo, carrello ti aspetta, nel tuo carrello, dimenticato qualcosa',
  'in je winkelwagen, in je winkelmand, iets vergeten, no seu carrinho, esqueceu algo, w koszyku',
  'カートに商品, 购物车里, 购物车中',
);

export const ANNOUNCEMENTS = listOf(
  "webinar*, live demo, join us for, you're invited, introducing, meet the new, announcing, what's new",
  'product update*, now available, new feature*, newsletter*, weekly digest, monthly roundup',
  'rundbrief, wir stellen vor, jetzt neu, neue funktion*, einladung zum, melden sie sich an',
  "webinaire*, lettre d'information, infolettre, découvrez notre, nous vous invitons, nouveautés",
  'seminario web, boletín, novedades, te presentamos, te invitamos, presentamos, inscríbete',
  'ti presentiamo, ti invitiamo, presentiamo, novità, nieuwsbrief, maak kennis met, uitnodiging voor',
  'novidades, apresentamos, conheça o novo, convite para, boletim',
  'nowości, przedstawiamy, zapraszamy na, webinarium',
  'メルマガ, ニュースレター, 新商品, 新発売, ウェビナー, 新品, 上新, 邀请您参加, 研讨会',
);

export const SURVEYS = listOf(
  'survey, share your feedback, how likely are you to recommend, tell us what you think',
  'rate your experience, rate your purchase, review your purchase, leave a review, how did we do',
  'how are we doing, wie zufrieden, êtes vous satisfait, hoe tevreden, qué te ha parecido, jak oceniasz',
  'umfrage, ihre meinung, deine meinung, bewerten sie, enquête, sondage, votre avis, donnez votre avis',
  'encuesta, tu opinión, sondaggio, la tua opinione, jouw mening, uw mening',
  'pesquisa de satisfação, sua opinião, ankieta, ankietę, twoja opinia, アンケート, 问卷',
);

export const OUTREACH = listOf(
  'quick question, i came across, reaching out, hop on a call, quick call, 15 minutes, 15 minute',
  '20 minutes, book a call, worth a chat, worth a conversation, circling back, following up on my',
  'bumping this, would you be open to, are you the right person, we help companies, we help teams',
  "companies like yours, teams like yours, if you'd rather not hear, if this isn't relevant",
  'not interested, grow your, your competitors, i noticed that, i noticed you, open to a quick',
  'kurze frage, kurzes gespräch, 15 minuten, unternehmen wie ihres, wir helfen unternehmen',
  'petite question, me permets de vous contacter, quelques minutes, nous aidons les entreprises',
  'pregunta rápida, llamada de 15, ayudamos a empresas, una domanda veloce, chiamata di 15',
  'aiutiamo aziende, korte vraag, even sparren, wij helpen bedrijven, pergunta rápida',
  'conversa de 15, ajudamos empresas, krótkie pytanie, 15 minut, pomagamy firmom',
);

export const BROWSER_LINKS = listOf(
  'view in browser, view this email in, view it in your browser, view online, view this email online',
  'read online, trouble viewing this, web version, online version, webversion, onlineversion',
  'im browser anzeigen, im browser ansehen, im browser öffnen, online ansehen',
  'voir dans le navigateur, version en ligne, dans votre navigateur, ver en el navegador',
  'ver en navegador, versión web, ver online, visualizza nel browser, versione web, versione online',
  'bekijk in browser, bekijk online, bekijk deze e-mail in, webversie, online versie',
  'ver no navegador, versão web, zobacz w przeglądarce, wersja online, otwórz w przeglądarce',
  'ブラウザで, 在浏览器中, 在线查看',
);

export const RECIPIENT_REASONS = listOf(
  "you are receiving this because, you're receiving this because, you are receiving this email because",
  "you're receiving this email because, you received this email because, because you signed up",
  'because you subscribed, because you opted in, you signed up, you are subscribed, you subscribed',
  'sie erhalten diesen newsletter, sie erhalten diese e-mail weil, du erhältst diese',
  'sie erhalten diese mail weil, weil sie sich, vous recevez cet, vous recevez ce message',
  'vous recevez cette, recibes este, recibe este, has recibido este, ricevi questa, hai ricevuto questa',
  'je ontvangt deze, u ontvangt deze, você recebeu este, você está recebendo, recebe este',
  'otrzymujesz tę wiadomość, otrzymujesz ten, 配信停止, 您收到此邮件, 您收到这封邮件',
);

export const READ_MORE = listOf(
  'read more, read the full, continue reading, read article, weiterlesen, mehr lesen, zum artikel',
  "lire la suite, lire l'article, leer más, seguir leyendo, leggi tutto, leggi l'articolo",
  'lees meer, lees verder, leia mais, ler mais, czytaj więcej, czytaj dalej, 続きを読む, 阅读全文',
);

// Signs of mail about the recipient's own business.

/** Followed by the number of an order, a booking, a case, … */
export const REFERENCES = listOf(
  'order, order number, order no, order id, invoice, invoice number, invoice no, receipt',
  'receipt number, booking, booking reference, booking number, confirmation number, reservation',
  'reservation number, ticket, ticket number, case, case number, reference number, transaction id',
  'purchase order, tracking number, customer number',
  'bestellung, bestellnummer, auftrag, auftragsnummer, rechnung, rechnungsnummer, buchung',
  'buchungsnummer, vorgangsnummer, kundennummer, sendungsnummer, bestellnr, rechnungsnr',
  'commande, numéro de commande, facture, numéro de facture, réservation, numéro de suivi, dossier',
  'pedido, número de pedido, factura, número de factura, reserva, localizador',
  'ordine, numero ordine, numero d’ordine, fattura, prenotazione, codice prenotazione',
  'bestelling, bestelnummer, factuur, factuurnummer, boeking, reserveringsnummer',
  'encomenda, número do pedido, fatura, número da fatura',
  'zamówienie, zamówienia, numer zamówienia, faktura, faktury, rezerwacja, rezerwacji',
  '注文番号, 請求書番号, 予約番号, お問い合わせ番号, 订单号, 订单编号, 訂單編號, 运单号, 发票号',
);

export const PURCHASES = listOf(
  'order confirmation, order confirmed, thank you for your order, thanks for your order, your receipt',
  'your order has, your order is, your order was, your invoice, payment received, payment confirmation',
  'receipt for, invoice for, thank you for your purchase, thank you for your payment',
  'bestellbestätigung, auftragsbestätigung, vielen dank für ihre bestellung, ihre bestellung',
  'deine bestellung, ihre rechnung, deine rechnung, zahlungseingang, zahlungsbestätigung',
  'confirmation de commande, votre commande, votre facture, votre reçu, merci pour votre commande',
  'confirmación de pedido, tu pedido, su pedido, tu factura, su factura, recibo de, gracias por tu compra',
  "conferma d'ordine, conferma ordine, il tuo ordine, la tua fattura, ricevuta di, grazie per il tuo ordine",
  'orderbevestiging, je bestelling, uw bestelling, uw factuur, je factuur, bedankt voor je bestelling',
  'confirmação de pedido, confirmação do pedido, seu pedido, sua encomenda, sua fatura',
  'potwierdzenie zamówienia, twoje zamówienie, dziękujemy za zamówienie, faktura vat',
  'ご注文, 注文確認, 領収書, 請求書, お支払い, 订单确认, 您的订单, 付款成功, 收据, 电子发票',
);

export const DELIVERIES = listOf(
  'has shipped, has been shipped, on its way, out for delivery, has been delivered, delivery update',
  'parcel … arrives, package … arrives, delivery … arrives, track the parcel, track the package',
  'paket … kommt, colis … arrive, paquete … llega, pacco … arriva, pakket … komt, paczka … dotrze',
  'track your package, track your parcel, track your order, tracking number, shipping confirmation',
  'versandbestätigung, wurde versandt, wurde verschickt, ist unterwegs, sendungsverfolgung',
  'sendungsnummer, a été expédiée, a été expédié, en cours de livraison, numéro de suivi',
  'ha sido enviado, número de seguimiento, está en camino, è stato spedito, numero di tracciamento',
  'in consegna, is verzonden, is onderweg, track trace, foi enviado, código de rastreamento',
  'código de rastreio, a caminho, zostało wysłane, została wysłana, numer przesyłki, w drodze',
  '発送, お届け, 配送状況, 已发货, 物流, 运单号',
);

export const ACCOUNT_SECURITY = listOf(
  'reset your … password, reset your password, password reset, reset password, set a new password, new sign in, new login',
  'new device, neues gerät, nouvel appareil, nuevo dispositivo, nuovo dispositivo, nieuw apparaat',
  'novo dispositivo, nowe urządzenie, ihr … passwort zurück, your account is ready, unusual activity',
  'security alert, password was changed, password has been changed',
  'confirm your email, verify your email, confirm your account, activate your account, sign in link',
  'passwort zurücksetzen, passwort zurückzusetzen, neues passwort, neue anmeldung, neuer login',
  'sicherheitswarnung, passwort wurde geändert, e-mail-adresse bestätigen, konto aktivieren',
  'bestätigen sie ihre e-mail, réinitialiser votre mot de passe, réinitialisation de votre mot de passe',
  'réinitialisation du mot de passe, nouvelle connexion, alerte de sécurité, confirmez votre adresse',
  'activez votre compte, restablecer tu contraseña, restablecer su contraseña, restablece tu contraseña',
  'restablecimiento de contraseña, nuevo inicio de sesión, alerta de seguridad, confirma tu correo',
  'verifica tu correo, activa tu cuenta, reimposta la password, reimpostare la password',
  'reimpostazione della password, reimposta la tua password, nuovo accesso, avviso di sicurezza',
  'conferma il tuo indirizzo, verifica la tua email, wachtwoord opnieuw instellen',
  'wachtwoord resetten, wachtwoord herstellen, nieuw wachtwoord, nieuwe aanmelding, nieuwe login',
  'bevestig je e-mail, bevestig uw e-mail, redefinir sua senha, redefinir a sua, redefinição de senha',
  'recuperar senha, novo login, novo acesso, alerta de segurança, confirme seu e-mail',
  'verifique seu e-mail, zresetuj hasło, resetowanie hasła, reset hasła, zmiana hasła',
  'nowe logowanie, alert bezpieczeństwa, potwierdź adres, potwierdź swój, aktywuj konto',
  'パスワードの再設定, パスワード再設定, パスワードリセット, 新しいログイン, ログインがありました',
  'メールアドレスの確認, 重置密码, 重設密碼, 找回密码, 新设备, 安全提醒, 验证您的邮箱, 激活您的',
);

export const WELCOMES = listOf(
  'welcome to, welcome aboard, willkommen bei, bienvenue chez, bienvenue sur, bienvenido a',
  'bienvenida a, benvenuto in, benvenuto su, benvenuta, welkom bij, bem-vindo, witamy w, ようこそ, 欢迎加入',
);

/** Next to a code of four to eight digits. */
export const ONE_TIME_CODES = listOf(
  'verification code, security code, one time code, one time password, login code, sign in code',
  'authentication code, your code is, passcode, otp, confirmation code',
  'bestätigungscode, sicherheitscode, einmalcode, anmeldecode, ihr code, dein code, einmalpasswort',
  'code de vérification, code de sécurité, votre code, código de verificación, código de seguridad',
  'tu código, codice di verifica, codice di sicurezza, il tuo codice, verificatiecode, inlogcode',
  'je code is, código de verificação, código de segurança, seu código, kod weryfikacyjny, twój kod',
  'kod bezpieczeństwa, 認証コード, 確認コード, 验证码, 驗證碼',
);

export const ACCOUNT_NOTICES = listOf(
  'payment failed, payment declined, payment is overdue, will renew, has been renewed, card expires',
  'statement is ready, your statement, account statement, your bill, terms of service, privacy policy update',
  'scheduled maintenance, zahlung fehlgeschlagen, kontoauszug, wurde verlängert, zahlungserinnerung',
  'mahnung, échec de paiement, relevé de compte, pago rechazado, extracto de',
  'pagamento non riuscito, estratto conto, betaling mislukt, rekeningoverzicht, pagamento recusado',
  'extrato da, płatność nieudana, wyciąg, お支払いに失敗, ご利用明細, 账单, 扣款失败',
);

export const BOOKINGS = listOf(
  'your appointment, appointment reminder, appointment confirmed, your booking, booking confirmation',
  'booking confirmed, reservation confirmed, your reservation, your itinerary, boarding pass, e-ticket',
  'check in is open, ihr termin, ihren termin, terminbestätigung, terminerinnerung, buchungsbestätigung',
  'ihre buchung, ihre reservierung, votre rendez-vous, votre réservation, confirmation de réservation',
  'tu cita, su cita, tu reserva, confirmación de reserva, il tuo appuntamento, la tua prenotazione',
  'conferma prenotazione, je afspraak, uw afspraak, je boeking, boekingsbevestiging, sua consulta',
  'sua reserva, confirmação de reserva, twoja wizyta, twoja rezerwacja, potwierdzenie rezerwacji',
  'ご予約, 予約確認, 预订确认, 预约成功',
);

/** Lines of a receipt. One alone may be anything. */
export const RECEIPT_LINES = listOf(
  'subtotal, sub total, order total, total amount, amount due, amount paid, shipping, vat, tax, quantity',
  'zwischensumme, gesamtsumme, gesamtbetrag, mwst, ust, versandkosten, menge',
  'sous total, total ttc, tva, frais de livraison, quantité, total a pagar, iva, gastos de envío',
  'subtotale, totale, spese di spedizione, subtotaal, totaal, btw, verzendkosten, aantal',
  'frete, quantidade, razem, suma, do zapłaty, ilość, 小計, 合計, 消費税, 数量, 小计, 合计, 运费',
);

/** Part account notice, part offer. */
export const ENDING_PLANS = listOf(
  'trial ends, trial is ending, trial expires, trial has ended, trial ending, trial period, free trial is',
  'trial will end, your trial, plan expires, subscription expires, subscription ends',
  'testphase, testzeitraum, probezeit endet, probeabo, essai gratuit, période d’essai, votre essai',
  'prueba gratuita, periodo de prueba, período de prueba, prova gratuita, periodo di prova',
  'proefperiode, período de teste, teste grátis, okres próbny, okresu próbnego',
  '無料トライアル, 試用期間, お試し期間, 试用期, 试用即将',
);

/** A digest of what happened in an account: part notification, part promotion of a service. */
export const DIGESTS = listOf(
  'new followers, viewed your profile, new notifications, what you missed, appeared in searches',
  'people you may know, neue follower, haben ihr profil besucht, das hast du verpasst',
  'nouveaux abonnés, ont consulté votre profil, nuevos seguidores, nuovi follower, nieuwe volgers',
  'novos seguidores, nowi obserwujący, 新しいフォロワー, 新粉丝',
);
