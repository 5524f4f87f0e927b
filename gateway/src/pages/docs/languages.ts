// Examples as programs that need nothing but their language: a template for each of seven.
import type { Example } from './examples.ts';

/** What a program sends, and to where. It reads its key or token from a variable. */
type Sent = {
  endpoint: string;
  /** The operation, such as `MemberByEmail`. */
  name: string;
  query: string;
  variables: Example['variables'];
  /** The whole body as JSON. */
  body: string;
  header: string;
  /** What stands before the credential in the header. */
  prefix: string;
  variable: string;
};

/** The names of the tabs, in their order. */
export const LANGUAGES = {
  curl: ({ endpoint, body, header, prefix, variable }) => `curl -s ${endpoint} \\
  -H 'content-type: application/json' \\
  -H "${header}: ${prefix}$${variable}" \\
  -d '${body}'`,

  JavaScript: ({ endpoint, query, variables, header, prefix, variable }) => `const query = \`
${query}
\`;
const variables = ${JSON.stringify(variables, null, 2)};
const response = await fetch('${endpoint}', {
  method: 'POST',
  headers: {
    'content-type': 'application/json',
    '${header}': ${after(prefix, "'", ' + ')}process.env.${variable},
  },
  body: JSON.stringify({ query, variables }),
});
console.log(JSON.stringify(await response.json(), null, 2));`,

  Python: ({ endpoint, query, variables, header, prefix, variable }) => `import json
import os
import urllib.error
import urllib.request

query = """
${query}
"""
variables = ${literal(variables, PYTHON)}
request = urllib.request.Request(
    "${endpoint}",
    json.dumps({"query": query, "variables": variables}).encode(),
    {
        "content-type": "application/json",
        "${header}": ${after(prefix, '"', ' + ')}os.environ["${variable}"],
    },
)
try:
    response = urllib.request.urlopen(request)
except urllib.error.HTTPError as error:
    response = error  # Its body says what is wrong.
print(json.dumps(json.load(response), indent=2))`,

  Go: ({ endpoint, body, header, prefix, variable }) => `package main

import (
	"io"
	"log"
	"net/http"
	"os"
	"strings"
)

func main() {
	body := \`${body}\`
	request, err := http.NewRequest("POST", "${endpoint}", strings.NewReader(body))
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("content-type", "application/json")
	request.Header.Set("${header}", ${after(prefix, '"', '+')}os.Getenv("${variable}"))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	io.Copy(os.Stdout, response.Body)
}`,

  PHP: ({ endpoint, query, variables, header, prefix, variable }) => `<?php
$query = <<<'GRAPHQL'
${query}
GRAPHQL;
$variables = ${literal(variables, PHP)};
$context = stream_context_create(['http' => [
    'method' => 'POST',
    'header' => [
        'content-type: application/json',
        '${header}: ${prefix}' . getenv('${variable}'),
    ],
    'content' => json_encode(['query' => $query, 'variables' => $variables]),
    'ignore_errors' => true, // The body of an error says what is wrong.
]]);
echo file_get_contents('${endpoint}', false, $context);`,

  Java: ({ endpoint, name, body, header, prefix, variable }) => `import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;

class ${name} {
  public static void main(String[] args) throws Exception {
    var body = """
${body.replace(/^/gm, '        ')}
        """;
    var request = HttpRequest.newBuilder(URI.create("${endpoint}"))
        .header("content-type", "application/json")
        .header("${header}", ${after(prefix, '"', ' + ')}System.getenv("${variable}"))
        .POST(BodyPublishers.ofString(body))
        .build();
    var response = HttpClient.newHttpClient().send(request, BodyHandlers.ofString());
    System.out.println(response.body());
  }
}`,

  'C#': ({ endpoint, name, body, header, prefix, variable }) => `using System;
using System.Net.Http;
using System.Text;
using System.Threading.Tasks;

static class ${name}
{
    public static async Task Main()
    {
        var body = @"${body.replaceAll('"', '""')}";
        var request = new HttpRequestMessage(HttpMethod.Post, "${endpoint}")
        {
            Content = new StringContent(body, Encoding.UTF8, "application/json"),
        };
        var credential = Environment.GetEnvironmentVariable("${variable}");
        request.Headers.Add("${header}", ${after(prefix, '"', ' + ')}credential);
        using (var client = new HttpClient())
        using (var response = await client.SendAsync(request))
            Console.WriteLine(await response.Content.ReadAsStringAsync());
    }
}`,
} satisfies Record<string, (sent: Sent) => string>;

export type Language = keyof typeof LANGUAGES;
// Cast: Object.keys loses the names.
export const LANGUAGE_NAMES = Object.keys(LANGUAGES) as Language[];

const CREDENTIALS = {
  partner: { header: 'x-partner-api-key', prefix: '', variable: 'PARTNER_LOYALTY_KEY' },
  member: { header: 'authorization', prefix: 'Bearer ', variable: 'PARTNER_LOYALTY_TOKEN' },
};

/** The example as a whole program, which prints the response. It holds no key. */
export function programOf(example: Example, language: Language, endpoint: string): string {
  const { surface, query, variables } = example;
  return LANGUAGES[language]({
    ...CREDENTIALS[surface],
    endpoint,
    name: query.split(/[ ({]/, 2)[1] ?? '',
    query,
    variables,
    body: JSON.stringify({ query: query.replace(/\s+/g, ' '), variables }, null, 2),
  });
}

/** What stands before an expression to put text before its value. */
function after(text: string, quote: string, plus: string): string {
  return text === '' ? '' : `${quote}${text}${quote}${plus}`;
}

/** How a language writes a map, its entries and null; lists are the same in both. */
type Notation = { map: [open: string, close: string]; colon: string; null: string; empty: string };
const PYTHON: Notation = { map: ['{', '}'], colon: ': ', null: 'None', empty: '{}' };
const PHP: Notation = { map: ['[', ']'], colon: ' => ', null: 'null', empty: 'new stdClass()' };

function literal(value: unknown, notation: Notation, indent = ''): string {
  if (value === null) return notation.null;
  if (typeof value !== 'object') return JSON.stringify(value);
  const inner = `${indent}    `;
  const isList = Array.isArray(value);
  const items = Object.entries(value).map(([name, item]) => {
    const key = isList ? '' : `${JSON.stringify(name)}${notation.colon}`;
    return `${inner}${key}${literal(item, notation, inner)},\n`;
  });
  if (items.length === 0) return notation.empty;
  const [open, close] = isList ? ['[', ']'] : notation.map;
  return `${open}\n${items.join('')}${indent}${close}`;
}
