/** Whether the language of an email has phrases, and what follows if it has none. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isLanguageKnown } from '../../../src/analysis/kind/language.ts';
import { classifyMessage } from '../../../src/analysis/kind.ts';
import { contextFor } from '../../helpers/analysis.ts';
import { LANGUAGE_MAILS, messageOf } from './language-mails.ts';

/** The same news in languages without phrases. */
const UNKNOWN: Record<string, string> = {
  fi: 'Hyvä asiakas, laskusi on nyt saatavilla asiakaspalvelussamme. Voit maksaa laskun verkkopankissa eräpäivään mennessä. Jos sinulla on kysyttävää, ota yhteyttä asiakaspalveluun.',
  da: 'Kære kunde, din nye side er klar. Vi har gjort det nemmere at finde det, du leder efter, og du kan nu se alle dine ting på ét sted. Hvis du ikke kan finde det, så skriv til os.',
  no: 'Hei, den nye siden din er klar. Vi har gjort det enklere å finde det du leter etter, og du kan nå se alle tingene dine på ett sted. Skriv til oss hvis du ikke finner det.',
  hr: 'Poštovani, vaša nova stranica je spremna. Sada je lakše pronaći ono što tražite i sve svoje stvari možete vidjeti na jednom mjestu. Ako nešto ne možete pronaći, pišite nam.',
  sk: 'Vážený zákazník, vaša nová stránka je pripravená. Teraz je ľahšie nájsť to, čo hľadáte, a všetky svoje veci vidíte na jednom mieste. Ak niečo neviete nájsť, napíšte nám.',
  sw: 'Mpendwa mteja, ukurasa wako mpya uko tayari. Sasa ni rahisi zaidi kupata unachotafuta na unaweza kuona vitu vyako vyote mahali pamoja. Ikiwa huwezi kupata kitu, tuandikie.',
  ca: 'Benvolgut client, la teva nova pàgina ja és a punt. Ara és més fàcil trobar el que busques i pots veure totes les teves coses en un sol lloc. Si no ho trobes, escriu-nos.',
  et: 'Lugupeetud klient, teie uus leht on valmis. Nüüd on lihtsam leida seda, mida otsite, ja näete kõiki oma asju ühes kohas. Kui te midagi ei leia, kirjutage meile.',
  lt: 'Gerbiamas kliente, jūsų naujas puslapis paruoštas. Dabar lengviau rasti tai, ko ieškote, ir visus savo daiktus matote vienoje vietoje. Jei ko nors nerandate, parašykite mums.',
  lv: 'Cienījamais klient, jūsu jaunā lapa ir gatava. Tagad ir vieglāk atrast to, ko meklējat, un visas savas lietas redzat vienuviet. Ja kaut ko nevarat atrast, rakstiet mums.',
  bg: 'Уважаеми клиенти, вашата нова страница е готова. Сега е по-лесно да намерите това, което търсите, и виждате всичките си неща на едно място. Ако не намирате нещо, пишете ни.',
  sr: 'Поштовани, ваша нова страница је спремна. Сада је лакше пронаћи оно што тражите и све своје ствари можете видети на једном месту. Ако нешто не можете да нађете, пишите нам.',
  he: 'לקוח יקר, הדף החדש שלך מוכן. עכשיו קל יותר למצוא את מה שאתה מחפש, ואתה יכול לראות את כל הדברים שלך במקום אחד. אם אינך מוצא משהו, כתוב לנו.',
  bn: 'প্রিয় গ্রাহক, আপনার নতুন পাতা প্রস্তুত। এখন আপনি যা খুঁজছেন তা খুঁজে পাওয়া সহজ এবং আপনি আপনার সব জিনিস এক জায়গায় দেখতে পারেন। কিছু না পেলে আমাদের লিখুন।',
  ur: 'محترم صارف، آپ کا نیا صفحہ تیار ہے۔ اب جو آپ تلاش کر رہے ہیں اسے ڈھونڈنا آسان ہے اور آپ اپنی تمام چیزیں ایک جگہ دیکھ سکتے ہیں۔ اگر کچھ نہ ملے تو ہمیں لکھیں۔',
  mr: 'प्रिय ग्राहक, तुमचे नवीन पान तयार आहे. आता तुम्ही जे शोधत आहात ते सापडणे सोपे आहे आणि तुम्ही तुमच्या सर्व गोष्टी एका ठिकाणी पाहू शकता. काही सापडले नाही तर आम्हाला लिहा.',
  ta: 'அன்புள்ள வாடிக்கையாளரே, உங்கள் புதிய பக்கம் தயாராக உள்ளது. இப்போது நீங்கள் தேடுவதைக் கண்டுபிடிப்பது எளிது, உங்கள் எல்லா பொருட்களையும் ஒரே இடத்தில் பார்க்கலாம். எங்களுக்கு எழுதுங்கள்.',
  tl: 'Mahal na customer, handa na ang iyong bagong pahina. Mas madali na ngayong hanapin ang iyong hinahanap at makikita mo ang lahat ng iyong gamit sa isang lugar. Sumulat sa amin.',
  az: 'Hörmətli müştəri, yeni səhifəniz hazırdır. İndi axtardığınızı tapmaq daha asandır və bütün əşyalarınızı bir yerdə görə bilərsiniz. Bir şey tapa bilmirsinizsə, bizə yazın.',
  eu: 'Bezero agurgarria, zure orri berria prest dago. Orain errazagoa da bilatzen duzuna aurkitzea, eta zure gauza guztiak leku bakarrean ikus ditzakezu. Zerbait aurkitzen ez baduzu, idatzi.',
};

/** A note from one person to another, without any phrase that shows a kind. */
const PERSONAL: Record<string, string> = {
  en: 'Hi Anna, are we still meeting tomorrow at ten? I have booked the small room and will bring the plans with me. See you there, Tom',
  tr: 'Merhaba Ayşe, yarın saat onda görüşüyor muyuz? Küçük odayı ayırttım, planları da yanımda getireceğim. Orada görüşürüz, sevgiler Tom',
  pl: 'Cześć Anno, czy nadal spotykamy się jutro o dziesiątej? Zarezerwowałem mały pokój i przyniosę ze sobą plany. Do zobaczenia, Tomek',
  cs: 'Ahoj Anno, sejdeme se zítra v deset? Zamluvil jsem malou místnost a přinesu s sebou plány. Uvidíme se tam, měj se hezky, Tomáš',
  ar: 'مرحبا آنا، هل ما زلنا سنلتقي غدا في العاشرة؟ لقد حجزت الغرفة الصغيرة وسأحضر الخطط معي. أراك هناك، توم',
  fa: 'سلام آنا، آیا هنوز فردا ساعت ده همدیگر را می‌بینیم؟ اتاق کوچک را رزرو کرده‌ام و نقشه‌ها را با خودم می‌آورم. می‌بینمت',
  hu: 'Szia Anna, holnap tízkor még találkozunk? Lefoglaltam a kis szobát, és hozom magammal a terveket. Ott találkozunk, üdv Tamás',
  ro: 'Bună Ana, ne mai vedem mâine la zece? Am rezervat camera mică și voi aduce planurile cu mine. Ne vedem acolo, Toma',
  ru: 'Привет, Анна, мы встречаемся завтра в десять? Я забронировал маленькую комнату и принесу с собой планы. До встречи, Том',
  uk: 'Привіт, Анно, ми зустрічаємося завтра о десятій? Я забронював маленьку кімнату і принесу із собою плани. До зустрічі, Том',
  hi: 'नमस्ते अन्ना, क्या हम कल दस बजे मिल रहे हैं? मैंने छोटा कमरा बुक कर लिया है और योजनाएँ साथ लाऊँगा। वहाँ मिलते हैं, टॉम',
  sv: 'Hej Anna, ses vi fortfarande i morgon klockan tio? Jag har bokat det lilla rummet och tar med mig ritningarna. Vi ses där, Tomas',
  id: 'Hai Anna, apakah kita masih bertemu besok jam sepuluh? Saya sudah memesan ruang kecil dan akan membawa rencananya. Sampai jumpa di sana, Tom',
  vi: 'Chào Anna, chúng ta vẫn gặp nhau lúc mười giờ ngày mai chứ? Tôi đã đặt phòng nhỏ và sẽ mang theo bản vẽ. Hẹn gặp bạn, Tom',
  de: 'Hallo Anna, treffen wir uns morgen um zehn? Ich habe den kleinen Raum gebucht und bringe die Pläne mit. Bis dann, Tom',
  nl: 'Hoi Anna, zien we elkaar morgen om tien uur? Ik heb de kleine kamer geboekt en neem de tekeningen mee. Tot dan, Tom',
  it: 'Ciao Anna, ci vediamo ancora domani alle dieci? Ho prenotato la sala piccola e porterò i progetti. A domani, Tommaso',
  es: 'Hola Ana, ¿nos vemos mañana a las diez? He reservado la sala pequeña y llevaré los planos. Hasta mañana, Tomás',
  pt: 'Olá Ana, ainda nos vemos amanhã às dez? Reservei a sala pequena e vou levar os planos. Até amanhã, Tomás',
  fr: 'Bonjour Anne, on se voit toujours demain à dix heures ? J’ai réservé la petite salle et j’apporte les plans. À demain, Thomas',
};

for (const [language, text] of Object.entries(UNKNOWN))
  test(`${language}: a language without phrases makes the kind uncertain, and says so`, async () => {
    assert.equal(isLanguageKnown(text), false);
    const context = await contextFor({ message: messageOf(['Acme', text, null]) });
    const { confidence, reasons } = context.fact(classifyMessage);
    assert.equal(confidence, 'uncertain');
    assert.match(reasons.at(-1)!, /^Its language is not one of those whose phrases are known/);
  });

for (const [language, text] of Object.entries(PERSONAL))
  test(`${language}: a language with phrases is known by a short note`, () => {
    assert.equal(isLanguageKnown(text), true);
  });

test('The language of every short mail with phrases is known', () => {
  for (const [language, { marketing, transactional }] of Object.entries(LANGUAGE_MAILS))
    for (const [subject, text] of [...marketing, ...transactional])
      assert.notEqual(isLanguageKnown(`${subject} ${text}`), false, `${language}: ${subject}`);
});

test('A few words show no language', () => {
  assert.equal(isLanguageKnown('Acme GmbH, Hauptstraße 1'), null);
  assert.equal(isLanguageKnown('48213 9:30 100%'), null);
});
