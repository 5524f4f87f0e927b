// The console's section for apps: what signs a partner's members in.
import { isolated } from '@partner-loyalty/runtime/input.ts';
import {
  type AppRefusal,
  type ManagedApp,
  ownOrigins,
} from '@partner-loyalty/runtime/manage/apps.ts';
import { noticeBox } from '@partner-loyalty/runtime/pages/cards.ts';
import { codeBlock, type Html, html } from '@partner-loyalty/runtime/pages/html.ts';
import { timeText } from '@partner-loyalty/runtime/time.ts';
import { actionForm, confirmed, field, hidden, type Typed, typedInto } from './forms.ts';
import type { Manage } from './manage.ts';
import { empty, facts, rowList, stateText } from './parts.ts';
import {
  ConsoleError,
  type ConsoleVisit,
  isAdmin,
  NotFoundError,
  type Section,
} from './section.ts';

const GUIDES = html`Read <a href="/docs/guides/sign-in-web">Sign in on the web</a> or
<a href="/docs/guides/sign-in-mobile">Sign in on a mobile app</a>`;

const REFUSALS: Readonly<Record<Exclude<AppRefusal['refused'], 'invalid'>, string>> = {
  unknown: 'There is no such app.',
  tooMany: 'You have reached the limit for apps. Remove one first.',
  public: 'This app is public, so it has no secret.',
  firstParty: 'Only the operator of this service can change a first-party app.',
  noPartner: 'Apps are not set up for your company yet. Ask the operator of this service.',
};
/** How much the list shows of an app's redirect URIs, and of its origins. */
const SHOWN_CHARACTERS = 300;
/** Each with its field. */
const ARGUMENTS = {
  name: ['The name', 'name'],
  redirectUris: ['Each redirect URI', 'redirects'],
  origins: ['Each origin', 'origins'],
} as const;

export function createAppsSection({ apps: manage }: Pick<Manage, 'apps'>): Section {
  const idIn = ({ changed }: ConsoleVisit, form: URLSearchParams) => {
    const clientId = field(form, 'clientId');
    changed(clientId);
    return { clientId };
  };
  return {
    name: 'apps',
    title: 'Apps',
    about: 'Register web and mobile apps that your members sign in to.',
    show: async (visit) => listPage(done(await manage(visit, 'list', {})).apps, visit),
    actions: {
      async create(visit, form) {
        const isConfidential = form.get('kind') === 'confidential';
        const given = { ...textsIn(form), isConfidential };
        const { app, secret } = done(await manage(visit, 'create', given));
        visit.changed(app.clientId);
        return secret === undefined ? undefined : secretPage(app, secret, 'is registered');
      },
      async update(visit, form) {
        done(await manage(visit, 'update', { ...idIn(visit, form), ...textsIn(form) }));
        return undefined;
      },
      async rotate(visit, form) {
        const { app, secret } = done(await manage(visit, 'rotate', idIn(visit, form)));
        return secretPage(app, secret, 'has a new secret');
      },
      async remove(visit, form) {
        done(await manage(visit, 'remove', idIn(visit, form)));
        return undefined;
      },
    },
    done: {
      create: 'The app is registered. You find its client ID below.',
      update: 'The app is changed. It takes effect within 5 seconds.',
      remove: 'The app is removed.',
    },
  };
}

function done<Answer extends object>(answer: Answer): Exclude<Answer, AppRefusal> {
  if (!('refused' in answer)) return answer as Exclude<Answer, AppRefusal>;
  const refusal = answer as unknown as AppRefusal; // Cast: no other answer has it.
  if (refusal.refused === 'invalid') {
    const [subject, field] = ARGUMENTS[refusal.argument];
    throw new ConsoleError(`${subject} ${refusal.fault}.`, field);
  }
  throw new (refusal.refused === 'unknown' ? NotFoundError : ConsoleError)(
    REFUSALS[refusal.refused],
  );
}

function textsIn(form: URLSearchParams) {
  const lines = (name: string) => field(form, name).split(/\s+/).filter(Boolean);
  return {
    name: field(form, 'name'),
    redirectUris: lines('redirects'),
    origins: lines('origins'),
  };
}

function listPage(apps: ManagedApp[], visit: ConsoleVisit): Html {
  const items = apps.map((app) => {
    const { name, kind, isFirstParty, clientId, redirectUris, origins, createdAt } = app;
    return html`<li class="row" id="${clientId}"><h2><bdi>${name}</bdi> ${stateText(kind)}
${isFirstParty ? stateText('first-party') : ''}</h2>
${facts([
  ['Client ID', html`<code>${clientId}</code>`],
  ['Redirect URIs', linesOf(redirectUris, clientId, visit)],
  ['Origins', origins.length === 0 ? 'None' : linesOf(origins, clientId, visit)],
  ['Created', timeText(createdAt)],
])}
${isAdmin(visit) && !isFirstParty ? changes(app, visit) : ''}</li>`;
  });
  const none = isAdmin(visit)
    ? 'Register a website or mobile app that members sign in to. Any OpenID Connect library works.'
    : 'An admin of your company can register one here.';
  const typed = typedInto(visit, 'create');
  const form = actionForm('apps', 'create', 'Register app', fieldsOf(typed));
  const isOpen = apps.length === 0 || typed.isRejected;
  return html`<p class="soft">Members sign in to your apps with OpenID Connect. An app gets
their data only after they agree.
${GUIDES}.</p>
${rowList(items, empty('No apps yet', none))}
${isAdmin(visit) ? confirmed('Register an app', form, isOpen, 'new') : ''}`;
}

/** The app whose form, and all of whose URIs, are shown. */
function chosenIn({ rejected, query }: ConsoleVisit): string | null {
  return rejected?.get('clientId') ?? query.get('edit');
}

/** In the list, the beginning of the lines, since all apps are on one page. */
function linesOf(lines: string[], clientId: string, visit: ConsoleVisit): Html {
  const text = lines.join('\n');
  const isWhole = text.length <= SHOWN_CHARACTERS || chosenIn(visit) === clientId;
  const shown = isWhole ? text : `${text.slice(0, SHOWN_CHARACTERS)}…`;
  return html`${shown.split('\n').map((line) => html`<code>${line}</code><br>`)}
${isWhole ? '' : html`<a href="${pathOf(clientId)}">Show all</a>`}`;
}

function pathOf(clientId: string): string {
  return `/console/apps?edit=${clientId}#${clientId}`;
}

function changes(app: ManagedApp, visit: ConsoleVisit): Html {
  const { clientId, name, kind } = app;
  const id = hidden('clientId', clientId);
  const rotating = html`<p>The new secret of <bdi>${name}</bdi> is shown once. The old one works for another
24 hours.</p>${actionForm('apps', 'rotate', 'Create a new secret', id)}`;
  const removing = html`<p>Members can no longer sign in to <bdi>${name}</bdi>, and its tokens stop working within 5
seconds. This cannot be undone.</p>${actionForm('apps', 'remove', 'Remove this app', id, 'danger')}`;
  return html`<div class="actions">${editing(app, visit)}
${kind === 'public' ? '' : confirmed('New secret', rotating)}
${confirmed('Remove', removing)}</div>`;
}

function fieldsOf(typed: Typed): Html {
  const { checked } = typed;
  return html`<fieldset><legend>Where it runs</legend>
<label class="box"><input type="radio" name="kind" value="public"${checked('kind', 'public', true)}> <span>In a browser or on a
device: public, without a secret</span></label>
<label class="box"><input type="radio" name="kind" value="confidential"${checked('kind', 'confidential')}> <span>On your server:
confidential, with a secret</span></label>
</fieldset>
${textFields(typed)}`;
}

/** A link to the page that has the form, or the form. */
function editing(app: ManagedApp, visit: ConsoleVisit): Html {
  const { clientId } = app;
  const typed = typedInto(visit, 'update');
  if (chosenIn(visit) !== clientId) return html`<a href="${pathOf(clientId)}">Edit</a>`;
  const content = html`${hidden('clientId', clientId)}${textFields(typed, app)}`;
  return confirmed('Edit', actionForm('apps', 'update', 'Save', content), true);
}

/** The fields that can change; without an app, of a new one. */
function textFields({ value, marked, fault }: Typed, app?: ManagedApp): Html {
  const of = app === undefined ? '' : '-edited';
  const redirects = value('redirects', app?.redirectUris.join('\n'));
  const origins = value('origins', (app && ownOrigins(app))?.join('\n'));
  return html`<label for="name${of}">Name, as members see it</label>
<input id="name${of}" name="name" value="${value('name', app?.name)}" maxlength="100" autocomplete="off"${marked('name')} required>
${fault('name')}
<label for="redirects${of}">Redirect URIs, one per line</label>
<textarea id="redirects${of}" name="redirects" rows="3" spellcheck="false" aria-describedby="redirect-hint${of}"${marked('redirects')}
 required>${redirects}</textarea>
${fault('redirects')}
<p class="soft" id="redirect-hint${of}">Where members return after they sign in. Your app must send
exactly the same URI: https, or a custom scheme such as com.example.app:/callback; for a public app
on a device also http://127.0.0.1, and in a sandbox any http URI.</p>
<label for="origins${of}">Origins of its pages, one per line (optional)</label>
<textarea id="origins${of}" name="origins" rows="2" spellcheck="false" aria-describedby="origin-hint${of}"${marked('origins')}>
${origins}</textarea>
${fault('origins')}
<p class="soft" id="origin-hint${of}">For example, https://app.example.com, or capacitor://localhost for
a hybrid app. If you leave this empty, the origins of the https redirect URIs apply.</p>`;
}

/** A secret is only on this page. */
function secretPage({ name, clientId }: ManagedApp, secret: string, what: string): Html {
  return html`${noticeBox(`${isolated(name)} ${what}.`, false)}
<p>Its client ID is <code>${clientId}</code>. ${GUIDES}.</p>
<p>Save its secret now: it is not shown again.</p>${codeBlock('Secret', secret)}
<p><a href="/console/apps">I have saved it: back to the apps</a></p>`;
}
