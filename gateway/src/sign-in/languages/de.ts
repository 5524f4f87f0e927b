// What the pages for members say, in German.
import type { Texts } from './en.ts';

export const DE: Texts = {
  language: 'de',
  links: {
    signIn: {
      title: 'Anmelden',
      text: 'Drücken Sie den Knopf, um sich anzumelden und Ihr Profil zu sehen.',
      button: 'Anmelden',
    },
    confirmChange: {
      title: 'Neue E-Mail-Adresse bestätigen',
      text: 'Drücken Sie den Knopf, damit dies Ihre E-Mail-Adresse wird.',
      button: 'Neue Adresse bestätigen',
    },
    undoChange: {
      title: 'Änderung Ihrer E-Mail-Adresse rückgängig machen',
      text: 'Drücken Sie den Knopf, um Ihre frühere E-Mail-Adresse zurückzubekommen.',
      button: 'Änderung rückgängig machen',
    },
    contestUndo: {
      title: 'Dem Verlust Ihrer E-Mail-Adresse widersprechen',
      text:
        'Drücken Sie den Knopf, wenn jemand anderes diese E-Mail-Adresse von Ihrer Mitgliedschaft ' +
        'entfernt hat. Bis wir es geprüft haben, kann sich niemand per E-Mail anmelden oder die ' +
        'Adresse ändern.',
      button: 'Widersprechen',
    },
  },
  invitation: {
    title: (partner) => `${partner} lädt Sie ein`,
    text: (partner, email) =>
      `${partner} möchte ${email} als Mitglied führen. Wenn Sie zustimmen, sieht ${partner} Ihren ` +
      'Namen, Ihre Adresse und Ihren Stand dort.',
    button: 'Zustimmen',
    accepted: 'Sie nehmen teil',
    acceptedText: (partner, email) => `${email} nimmt jetzt bei ${partner} teil.`,
  },
  address: {
    title: 'Anmelden',
    app: (app) => `und weiter zu ${app}`,
    label: 'E-Mail-Adresse',
    hint: 'Wir senden Ihnen einen Link und einen Code, mit denen Sie sich anmelden.',
    button: 'Weiter',
    problems: {
      invalid: 'Diese E-Mail-Adresse können wir nicht verwenden.',
      limited: 'Wir haben zu viele E-Mails gesendet. Bitte versuchen Sie es in 15 Minuten wieder.',
    },
  },
  code: {
    title: 'Sehen Sie in Ihr Postfach',
    text: (address) =>
      `Wenn ${address} die Adresse eines Mitglieds ist, haben wir einen Link und einen Code dorthin ` +
      'gesendet. Öffnen Sie den Link in diesem Browser, oder geben Sie den Code hier ein. Beide ' +
      'gelten 15 Minuten.',
    label: 'Code',
    button: 'Anmelden',
    problems: {
      wrong: 'Das ist nicht der Code aus der E-Mail. Bitte prüfen Sie ihn.',
      expired: 'Dieser Code gilt nicht mehr. Bitte beginnen Sie neu.',
    },
    again: 'Neu beginnen',
  },
  elsewhere: {
    title: 'Geben Sie den Code dort ein, wo Sie begonnen haben',
    text:
      'Sie haben diesen Link in einem anderen Browser geöffnet. Geben Sie dort den Code aus der ' +
      'E-Mail ein, um sich anzumelden.',
  },
  consent: {
    title: (app) => `Möchten Sie ${app} verwenden?`,
    text: (app, partner) => `${app} gehört zu ${partner}. Wenn Sie zustimmen, sieht die App:`,
    host: (host) => `Sie führt zu ${host}.`,
    scopes: {
      openid: 'Ihre Mitgliedschaft und, wenn Sie teilnehmen, Ihren Stand bei diesem Partner',
      profile: 'Ihren Namen',
      email: 'Ihre E-Mail-Adresse',
      offline_access: 'all das auch, während Sie sie nicht verwenden, bis Sie es widerrufen',
    },
    agree: 'Zustimmen',
    cancel: 'Abbrechen',
  },
  signOut: {
    title: 'Möchten Sie sich abmelden?',
    text: 'Das beendet Ihre Sitzung in diesem Browser und in den Apps, die Sie damit verwendet haben.',
    button: 'Abmelden',
    cancel: 'Abbrechen',
  },
  account: {
    title: 'Ihr Profil',
    name: 'Name',
    email: 'E-Mail',
    points: 'Punkte in diesem Jahr',
    stays: 'Aufenthalte in diesem Jahr',
    standing: 'Ihr Stand',
    partner: 'Partner',
    tier: 'Stufe',
    pointsThere: 'Punkte',
    notEnrolled: 'Sie nehmen bei keinem Partner teil.',
    address: 'E-Mail-Adresse ändern',
    newAddress: 'Neue E-Mail-Adresse',
    addressHint:
      'Wir senden einen Link an die neue Adresse. Bis Sie ihn öffnen, ändert sich nichts.',
    sendLink: 'Link senden',
    names: 'Namen ändern',
    firstName: 'Vorname',
    lastName: 'Nachname',
    saveNames: 'Namen speichern',
    enrollments: 'Wo Sie teilnehmen',
    leave: 'Verlassen',
    apps: 'Apps, die Sie verwenden',
    appOf: (app, partner) => `${app} von ${partner}`,
    since: (time) => `seit ${time}`,
    revoke: 'Widerrufen',
    sessions: 'Wo Sie angemeldet sind',
    session: (browser, used) => `${browser}, zuletzt verwendet ${used}`,
    thisSession: 'dieser Browser',
    endSession: 'Beenden',
    signedIn: 'Sie bleiben angemeldet, bis Sie 30 Tage lang nicht wiederkommen.',
    signOut: 'Abmelden',
    retry: 'Sie sind angemeldet',
    retryText: 'Ihr Profil ist nicht verfügbar, weil bei uns etwas nicht antwortet.',
    retryButton: 'Noch einmal versuchen',
    notices: {
      linkSent: (email) => `Wir haben einen Link an ${email} gesendet. Öffnen Sie ihn.`,
      invalidAddress: 'Diese E-Mail-Adresse können wir nicht verwenden.',
      invalidNames: 'Ein Name kann höchstens 100 Zeichen haben.',
      namesChanged: 'Ihr Name ist geändert.',
      left: 'Sie haben den Partner verlassen.',
      revoked: 'Die App sieht nichts mehr von Ihnen.',
      sessionEnded: 'Die Sitzung ist beendet.',
    },
  },
  messages: {
    invalidLink: [
      'Dieser Link funktioniert nicht',
      'Er wurde schon verwendet, ist abgelaufen oder unvollständig. Bitte fordern Sie einen neuen an.',
    ],
    expired: ['Das hat zu lange gedauert', 'Bitte beginnen Sie dort neu, woher Sie kommen.'],
    tooMany: ['Zu viele Versuche', 'Bitte versuchen Sie es in einer Minute wieder.'],
    signedOut: ['Sie sind abgemeldet', 'Um Ihr Profil wieder zu sehen, melden Sie sich bitte an.'],
    sessionEnded: [
      'Sie sind abgemeldet',
      'Ihre Sitzung ist beendet. Bitte melden Sie sich neu an.',
    ],
    appRefused: [
      'Sie können sich bei dieser App nicht anmelden',
      'Sie hat etwas gesendet, das wir nicht annehmen. Bitte sagen Sie es denen, die sie machen.',
    ],
    unavailable: [
      'Das geht gerade nicht',
      'Bei uns antwortet etwas nicht. Bitte versuchen Sie es in einer Minute wieder.',
    ],
    addressChanged: ['Ihre E-Mail-Adresse ist geändert', 'Ab jetzt schreiben wir an {}.'],
    addressRestored: [
      'Sie haben Ihre frühere E-Mail-Adresse zurück',
      'Ab jetzt schreiben wir an {}.',
    ],
    addressInUse: [
      'Diese Adresse kann nicht verwendet werden',
      'Sie gehört einem anderen Mitglied. Ihre Adresse hat sich nicht geändert.',
    ],
    addressLocked: [
      'Ihre Mitgliedschaft ist geschützt',
      'Bis wir es geprüft haben, kann sich niemand per E-Mail anmelden oder die Adresse ändern. ' +
        'Bitte wenden Sie sich an uns.',
    ],
    foreignForm: [
      'Dieses Formular kam nicht von unserer Seite',
      'Bitte öffnen Sie den Link in Ihrer E-Mail noch einmal, oder gehen Sie zurück.',
    ],
    signInElsewhere: [
      'Hier können Sie sich nicht anmelden',
      'Bitte melden Sie sich dort an, wo Sie es sonst tun. Ihr Link wurde nicht verwendet.',
    ],
    wrongMethod: ['Das kann diese Seite nicht', 'Bitte öffnen Sie den Link in Ihrer E-Mail.'],
    tooSlow: [
      'Das hat zu lange gedauert',
      'Bitte gehen Sie zurück, und senden Sie es noch einmal.',
    ],
  },
};
