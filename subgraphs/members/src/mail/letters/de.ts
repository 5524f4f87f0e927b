// What the emails say, in German.
import type { EN } from './en.ts';

const IGNORE = 'Wenn Sie das nicht waren, können Sie diese E-Mail ignorieren';
const DO_NOT_SHARE = 'Geben Sie den Link niemandem weiter.';
const timeOf = (time: Date) =>
  `${time.toLocaleString('de', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' })} UTC`;

export const DE: typeof EN = {
  magicLink: (partner, link, minutes) => ({
    subject: `Anmelden bei ${partner}`,
    paragraphs: [
      `Jemand, wahrscheinlich Sie, möchte sich mit dieser E-Mail-Adresse bei ${partner} anmelden.`,
      'Zum Anmelden öffnen Sie diesen Link:',
      { link, label: 'Anmelden' },
      `Der Link funktioniert einmal und gilt ${minutes} Minuten.`,
      `${IGNORE}: Ohne den Link kann sich niemand anmelden. ${DO_NOT_SHARE}`,
    ],
  }),
  code: (code, link, minutes) => ({
    subject: `Ihr Code ist ${code}`,
    paragraphs: [
      'Jemand, wahrscheinlich Sie, hat begonnen, sich mit dieser E-Mail-Adresse anzumelden.',
      `Zum Anmelden geben Sie dort, wo Sie begonnen haben, diesen Code ein: ${code}`,
      'Oder öffnen Sie diesen Link im selben Browser:',
      { link, label: 'Anmelden' },
      `Beide funktionieren einmal und gelten ${minutes} Minuten.`,
      `${IGNORE}: Ohne sie kann sich niemand anmelden. Sagen Sie niemandem den Code.`,
    ],
  }),
  invitation: (partner, link, days) => ({
    subject: `${partner} lädt Sie ein`,
    paragraphs: [
      `${partner} möchte Sie mit dieser E-Mail-Adresse als Mitglied führen.`,
      'Um zu sehen, was das bedeutet, und um zuzustimmen, öffnen Sie diesen Link:',
      { link, label: 'Einladung ansehen' },
      `Der Link funktioniert einmal und gilt ${days} Tage.`,
      `Wenn Sie das nicht möchten, können Sie diese E-Mail ignorieren: Ohne den Link geschieht nichts. ${DO_NOT_SHARE}`,
    ],
  }),
  change: (link, minutes) => ({
    subject: 'Bestätigen Sie Ihre neue E-Mail-Adresse',
    paragraphs: [
      'Ein Mitglied hat uns gebeten, ab jetzt diese E-Mail-Adresse zu verwenden.',
      'Wenn Sie das waren, bestätigen Sie die Adresse mit diesem Link:',
      { link, label: 'Adresse bestätigen' },
      `Der Link funktioniert einmal und gilt ${minutes} Minuten.`,
      `${IGNORE}: Ohne den Link ändert sich nichts. ${DO_NOT_SHARE}`,
    ],
  }),
  changed: (link, until) => ({
    subject: 'Ihre E-Mail-Adresse wurde geändert',
    paragraphs: [
      'Die E-Mail-Adresse Ihrer Mitgliedschaft wurde geändert. An diese schreiben wir nicht mehr.',
      'Wenn Sie das nicht waren, holen Sie sich Ihre Adresse mit diesem Link zurück:',
      { link, label: 'Änderung rückgängig machen' },
      `Der Link funktioniert einmal, bis ${timeOf(until)}.`,
      `Wenn Sie das waren, können Sie diese E-Mail ignorieren. ${DO_NOT_SHARE}`,
    ],
  }),
  undone: (link, until) => ({
    subject: 'Die Änderung Ihrer E-Mail-Adresse wurde rückgängig gemacht',
    paragraphs: [
      'Jemand mit Zugang zum früheren Postfach Ihrer Mitgliedschaft hat die Änderung auf diese ' +
        'E-Mail-Adresse rückgängig gemacht. An diese schreiben wir nicht mehr, und alle Sitzungen ' +
        'sind beendet.',
      'Wenn Sie das nicht waren, widersprechen Sie mit diesem Link. Bis wir es geprüft haben, kann ' +
        'sich niemand per E-Mail anmelden oder die Adresse ändern:',
      { link, label: 'Widersprechen' },
      `Der Link funktioniert einmal, bis ${timeOf(until)}.`,
      `Wenn Sie das waren, können Sie diese E-Mail ignorieren. ${DO_NOT_SHARE}`,
    ],
  }),
};
